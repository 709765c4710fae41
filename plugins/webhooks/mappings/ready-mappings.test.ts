import type { HookPreset, JsonObject } from "svc/sdk";
import { describe, expect, test, vi } from "vitest";
import { framedTexts, type HookStage, hookStage } from "../../../test/fixtures/hook-resolver.ts";

const mail: HookPreset = {
  id: "gmail",
  mappings: [
    {
      id: "gmail",
      match: { path: "gmail" },
      forEach: "messages",
      name: "Gmail",
      sessionKey: "hook:gmail:{{messages[0].id}}",
      messageTemplate: "New email from {{messages[0].from}}",
    },
  ],
};
const stageOf = (presets: HookPreset[], hooks: HookStage["hooks"] = {}) =>
  hookStage({ presets, hooks: { presets: presets.map(({ id }) => id), ...hooks } });
const letters = {
  messages: [
    { id: "17", from: "Ada" },
    { id: "18", from: "Bob" },
  ],
};

describe("mappings of the operator", () => {
  test("have a name each, by their place where none was given", () => {
    const { mappings } = hookStage({ hooks: { mappings: [{ textTemplate: "a" }, { id: "own" }, {}] } });
    expect(mappings.map(({ id, preset }) => [id, preset])).toEqual([
      ["mapping-1", undefined],
      ["own", undefined],
      ["mapping-3", undefined],
    ]);
  });

  test("come before those of presets: an own one for the path of the preset owns it", async () => {
    const own = { match: { path: "gmail" }, messageTemplate: "own" };
    expect(framedTexts((await stageOf([mail], { mappings: [own] }).agent({ path: "gmail", payload: letters })).message)).toEqual(["own"]);
  });

  test("that cannot serve answer 500 and say why in the log; the others serve", async () => {
    const stage = hookStage({
      hooks: {
        mappings: [
          { match: { path: "bad" }, messageTemplate: "m", sessionKey: "agent:{{x}}" },
          { match: { path: "good" }, messageTemplate: "m" },
        ],
      },
    });
    expect(await stage.refusal({ path: "bad" })).toEqual({
      status: 500,
      message: "hook mapping failed",
      reason: "a templated sessionKey needs text of its own before its first {{, or hooks.allowedSessionKeyPrefixes",
    });
    expect(await stage.agent({ path: "good" })).toMatchObject({ kind: "agent" });
  });
});

describe("a preset", () => {
  test("of mail makes a run of each letter, in its session, told as Email", async () => {
    const resolved = await stageOf([mail]).post({ path: "gmail", payload: letters });
    const items =
      resolved.kind === "actions"
        ? resolved.items.map((item) => ("action" in item && item.action.kind === "agent" ? item.action : undefined))
        : [];
    expect(items.map((action) => action?.sessionKey)).toEqual(["agent:main:hook:gmail:17", "agent:main:hook:gmail:18"]);
    expect(items.map((action) => framedTexts(action?.message ?? ""))).toEqual([["New email from Ada"], ["New email from Bob"]]);
    for (const action of items) expect(action?.message).toContain("\nSource: Email\nTask: Gmail\n---\n");
    expect(resolved).toMatchObject({ mapping: "gmail", isFanOut: true });
  });

  test("that nobody brings is left out", async () => {
    expect(await hookStage({ hooks: { presets: ["gmail"] } }).post({ path: "gmail", payload: letters })).toEqual({ kind: "unmapped" });
  });

  test("names its mappings after itself", () => {
    const ids = (mappings: JsonObject[]) => stageOf([{ id: "ci", mappings }]).mappings.map(({ id, preset }) => [id, preset]);
    expect(ids([{}])).toEqual([["ci", "ci"]]);
    expect(ids([{}, { id: "own" }, {}])).toEqual([
      ["ci-1", "ci"],
      ["own", "ci"],
      ["ci-3", "ci"],
    ]);
  });

  test.each<[JsonObject, RegExp]>([
    [{ match: { path: "ci" }, unknown: 1 }, /^preset "ci": .*[Uu]nrecognized key/],
    [{ match: { path: "ci" }, action: "other" }, /^preset "ci": action: /],
    [{ match: { path: "ci" }, transform: { module: "missing" } }, /^preset "ci" has no transform "missing"$/],
    [{ match: { path: "ci" }, transform: { module: "toString" } }, /^preset "ci" has no transform "toString"$/],
    [{ match: { path: "ci" }, verify: { provider: "github", secret: "s" } }, /^preset "ci": verify is for hooks\.mappings$/],
    [{ match: { path: "ci" }, sessionKey: "{{id}}" }, /templated sessionKey needs text of its own/],
  ])("%j cannot serve, and says why", async (mapping, reason) => {
    const stage = stageOf([{ id: "ci", mappings: [mapping], transforms: {} }]);
    expect(stage.mappings[0]?.broken).toMatch(reason);
    expect(await stage.refusal({ path: "ci" })).toMatchObject({ status: 500, message: "hook mapping failed" });
  });

  test("whose mapping cannot be read at all matches nothing", async () => {
    expect(await stageOf([{ id: "ci", mappings: [{ match: 5 }] }]).post({ path: "ci" })).toEqual({ kind: "unmapped" });
  });

  test("cannot take wake or agent", () => {
    expect(stageOf([{ id: "ci", mappings: [{ match: { path: "agent" } }] }]).mappings[0]?.broken).toMatch(
      /wake and agent cannot be mapped/,
    );
  });
});

describe("a transform of a preset", () => {
  const ci = (run: (context: JsonObject) => unknown): HookPreset => ({
    id: "ci",
    mappings: [{ match: { path: "ci" }, messageTemplate: "template", transform: { module: "build" } }],
    transforms: { build: run },
  });
  const message = async (run: (context: JsonObject) => unknown) =>
    framedTexts((await stageOf([ci(run)]).agent({ path: "ci", payload: { x: 1 }, query: "?a=1" })).message);

  test("is a function of its plugin, with the context of any transform", async () => {
    expect(
      await message(({ payload, url, path }) => ({ message: `${JSON.stringify(payload)} ${(url as URL).searchParams.get("a")} ${path}` })),
    ).toEqual(['{"x":1} 1 ci']);
    expect(await message(async () => ({ message: "later" }))).toEqual(["later"]);
    expect(await message(() => undefined)).toEqual(["template"]);
    expect(await stageOf([ci(() => null)]).post({ path: "ci" })).toEqual({ kind: "none" });
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
    ],
    ["rejects", () => Promise.reject(new Error("boom"))],
    ["returns a text", () => "text"],
    ["returns a list", () => []],
    ["returns what is no JSON", () => ({ message: 1n })],
    ["returns a function", () => () => null],
    ["returns a field of a wrong type", () => ({ message: 5 })],
  ])("that %s is 500", async (_, run) => {
    expect(await stageOf([ci(run)]).refusal({ path: "ci" })).toMatchObject({
      status: 500,
      message: "hook mapping failed",
      reason: expect.any(String),
    });
  });

  test("that never answers is given up after 5 s", async () => {
    vi.useFakeTimers();
    try {
      const refusal = stageOf([ci(() => new Promise(() => undefined))]).refusal({ path: "ci" });
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await refusal).toMatchObject({ status: 500, reason: expect.stringMatching(/no answer within 5000 ms/) });
    } finally {
      vi.useRealTimers();
    }
  });
});
