import { describe, expect, test } from "vitest";
import { framedTexts, type HookPost, type HookStage, hookStage, transformOf } from "../../../test/fixtures/hook-resolver.ts";
import { transformErrors } from "../transforms/errors.ts";

type Mappings = NonNullable<NonNullable<HookStage["hooks"]>["mappings"]>;
type Mapping = Mappings[number];

const path = "shop";
const stageOf = (mapping: Mapping, more: HookStage = {}) =>
  hookStage({ ...more, hooks: { mappings: [{ match: { path }, ...mapping }], ...more.hooks } });
const post = (payload: unknown = {}, more: Partial<HookPost> = {}): HookPost => ({ path, payload, ...more });
const FAILED = "hook mapping failed";

describe("what a transform returns", () => {
  const transformed = (answer: unknown, mapping: Mapping = {}, more: HookStage = {}) =>
    stageOf(
      { messageTemplate: "template {{x}}", textTemplate: "wake {{x}}", name: "template", ...mapping, transform: { module: "t.ts" } },
      { ...more, transforms: { "t.ts": transformOf(() => answer) } },
    );

  test("undefined: the action is that of the templates", async () => {
    const action = await transformed(undefined).agent(post({ x: 1 }));
    expect(framedTexts(action.message)).toEqual(["template 1"]);
  });

  test("null: nothing is to be done", async () => expect(await transformed(null).post(post())).toEqual({ kind: "none" }));

  test("an object is put over the templates, field by field", async () => {
    const action = await transformed(
      { message: "mine", to: "x", deliver: false, timeoutSeconds: 5, thinking: "low" },
      { channel: "webchat" },
    ).agent(post());
    expect(framedTexts(action.message)).toEqual(["mine"]);
    expect(action).toMatchObject({ name: "template", to: "x", deliver: false, timeoutMs: 5_000, thinking: "low", channel: "webchat" });
  });

  test("it may make a wake of it, or a run, with the templates of that kind", async () => {
    const wake = await transformed({ kind: "wake", mode: "next-heartbeat" }).wake(post({ x: 1 }));
    expect(wake).toMatchObject({ kind: "wake", same: "wake 1", mode: "next-heartbeat" });
    const told = await transformed({ kind: "wake", text: "mine" }).wake(post());
    expect(framedTexts(told.text)).toEqual(["mine"]);
    expect(await transformed({ kind: "agent" }, { action: "wake" }).agent(post({ x: 1 }))).toMatchObject({
      kind: "agent",
      name: "template",
    });
  });

  test("its text is framed; it cannot vouch for what it brings", async () => {
    const { message } = await transformed({ message: "mine", allowUnsafeExternalContent: true }).agent(post());
    expect(framedTexts(message)).toEqual(["mine"]);
  });

  test("its session key counts as one of the payload", async () => {
    const refusal = await transformed({ sessionKey: "hook:x" }).refusal(post());
    expect(refusal).toMatchObject({ status: 400, message: expect.stringMatching(/^sessionKey is disabled for externally supplied/) });
    const open = { hooks: { allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:"] } };
    expect(await transformed({ sessionKey: "hook:x" }, {}, open).agent(post())).toMatchObject({ sessionKey: "agent:main:hook:x" });
    expect(await transformed({ sessionKey: "main" }, {}, open).refusal(post())).toMatchObject({ status: 400 });
    expect(await transformed({ sessionKey: "" }, { sessionKey: "hook:own" }, open).refusal(post())).toEqual({
      status: 400,
      message: "sessionKey must be a non-empty string",
    });
  });

  test("its agent counts as one that was named", async () => {
    expect(await transformed({ agentId: "ops" }, {}, { hooks: { allowedAgentIds: [] } }).refusal(post())).toEqual({
      status: 400,
      message: "agentId is not allowed by hooks.allowedAgentIds",
    });
  });

  test.each<[unknown, string]>([
    [{ message: "" }, "hook mapping requires message"],
    [{ kind: "wake", text: " " }, "hook mapping requires text"],
    [{ channel: "nowhere" }, "channel must be last|webchat"],
    [{ model: "vendor/other" }, "model not allowed: vendor/other"],
    [{ wakeMode: "later" }, "wakeMode must be now|next-heartbeat"],
    [{ kind: "wake", mode: "later" }, "mode must be now|next-heartbeat"],
    [{ timeoutSeconds: -1 }, "timeoutSeconds must be a positive number"],
    [{ sessionMode: "shared" }, "sessionMode must be isolated|persistent"],
  ])("%j is judged like any other: 400 %s", async (answer, message) => {
    expect(await transformed(answer).refusal(post())).toEqual({ status: 400, message });
  });

  test.each<[unknown, string]>([
    [{ kind: "other" }, 'a "kind" that is neither "wake" nor "agent"'],
    [{ kind: null }, 'a "kind" that is neither'],
    [{ message: 5 }, 'a number as "message"; expected a string'],
    [{ message: null }, 'null as "message"; expected a string'],
    [{ name: ["x"] }, 'a list as "name"; expected a string'],
    [{ agentId: {} }, 'an object as "agentId"; expected a string'],
    [{ sessionKey: 1 }, '"sessionKey"; expected a string'],
    [{ wakeMode: true }, '"wakeMode"; expected a string'],
    [{ sessionMode: 1 }, '"sessionMode"; expected a string'],
    [{ deliver: "yes" }, '"deliver"; expected a boolean'],
    [{ channel: 1 }, '"channel"; expected a string'],
    [{ to: 1 }, '"to"; expected a string'],
    [{ model: 1 }, '"model"; expected a string'],
    [{ thinking: 1 }, '"thinking"; expected a string'],
    [{ timeoutSeconds: "5" }, '"timeoutSeconds"; expected a number'],
    [{ kind: "wake", text: 1 }, '"text"; expected a string'],
    [{ kind: "wake", mode: 1 }, '"mode"; expected a string'],
  ])("%j is of a wrong type: 500, and the reason is for the log", async (answer, words) => {
    const refusal = await transformed(answer).refusal(post());
    expect(refusal).toEqual({ status: 500, message: FAILED, reason: expect.stringContaining(words) });
  });

  test("fields that mean nothing for its kind do not count", async () => {
    expect(await transformed({ text: 5, mode: 5, other: {}, constructor: 1 }).agent(post({ x: 1 }))).toMatchObject({ kind: "agent" });
    expect(await transformed({ kind: "wake", text: "t", deliver: "x", message: 5 }).wake(post())).toMatchObject({ same: "t" });
  });

  test("an error of it is 500 with the reason for the log, one that will pass is 503", async () => {
    const failing = stageOf(
      { transform: { module: "t.ts" } },
      { transforms: { "t.ts": () => Promise.reject(new Error("t.ts:3:7 boom")) } },
    );
    expect(await failing.refusal(post())).toEqual({ status: 500, message: FAILED, reason: "t.ts:3:7 boom" });
    const broken = transformErrors.transformFailed({ reason: "t.ts:1:1 syntax" });
    expect(
      await stageOf({ transform: { module: "t.ts" } }, { transforms: { "t.ts": () => Promise.reject(broken) } }).refusal(post()),
    ).toEqual({
      status: 500,
      message: FAILED,
      reason: "t.ts:1:1 syntax",
    });
    const resting = transformErrors.transformResting({ module: "t.ts" }, { retryAfterMs: 60_000 });
    expect(
      await stageOf({ transform: { module: "t.ts" } }, { transforms: { "t.ts": () => Promise.reject(resting) } }).refusal(post()),
    ).toMatchObject({
      status: 503,
      retryAfterMs: 60_000,
    });
  });

  test("it is given payload, headers, path and address", async () => {
    let seen: unknown;
    const transforms = {
      "t.ts": transformOf((context) => {
        seen = context;
        return undefined;
      }),
    };
    await stageOf({ messageTemplate: "m", transform: { module: "t.ts" } }, { transforms }).agent(
      post({ x: 1 }, { headers: { "x-event": "e" }, query: "?a=1" }),
    );
    expect(seen).toEqual({ payload: { x: 1 }, headers: { "x-event": "e" }, path: "shop", url: "http://gateway.test/hooks/shop?a=1" });
  });

  test("a call that ends with its caller is no failure of the mapping", async () => {
    const caller = new AbortController();
    const leave = () => {
      caller.abort(new Error("gone"));
      return Promise.reject(caller.signal.reason);
    };
    const stage = stageOf({ transform: { module: "t.ts" } }, { transforms: { "t.ts": leave } });
    await expect(stage.post(post({}, { signal: caller.signal }))).rejects.toThrow("gone");
  });

  test("a template that it replaces is not asked", async () => {
    const payload = { x: "x".repeat(300_000) };
    expect(await transformed({ message: "short" }).agent(post(payload))).toMatchObject({ kind: "agent" });
  });
});
