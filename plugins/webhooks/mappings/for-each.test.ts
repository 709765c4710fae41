import { describe, expect, test } from "vitest";
import { framedTexts, type HookPost, type HookStage, hookStage, transformOf } from "../../../test/fixtures/hook-resolver.ts";

type Mappings = NonNullable<NonNullable<HookStage["hooks"]>["mappings"]>;
type Mapping = Mappings[number];

const path = "shop";
const stageOf = (mapping: Mapping, more: HookStage = {}) =>
  hookStage({ ...more, hooks: { mappings: [{ match: { path }, ...mapping }], ...more.hooks } });
const post = (payload: unknown = {}, more: Partial<HookPost> = {}): HookPost => ({ path, payload, ...more });

describe("forEach", () => {
  const mapping: Mapping = { forEach: "items", messageTemplate: "{{shop}} {{items[0].id}}{{items[1].id}}" };
  const items = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));

  test("makes one action of each item, which sees itself as the whole list", async () => {
    const resolved = await stageOf(mapping).post(post({ shop: "North", items: items(3) }));
    expect(resolved).toMatchObject({ kind: "actions", mapping: "mapping-1", isFanOut: true, warnings: [] });
    const made = resolved.kind === "actions" ? resolved.items : [];
    expect(made.map((item) => ("action" in item && item.action.kind === "agent" ? framedTexts(item.action.message) : item))).toEqual([
      ["North 0"],
      ["North 1"],
      ["North 2"],
    ]);
  });

  test("takes 200 and drops the rest with a warning", async () => {
    expect(await stageOf(mapping).post(post({ items: items(200) }))).toMatchObject({ items: { length: 200 }, warnings: [] });
    expect(await stageOf(mapping).post(post({ items: items(201) }))).toMatchObject({
      items: { length: 200 },
      warnings: ['"items" has 201 items; only the first 200 are used'],
    });
  });

  test("of an empty list is nothing to do; without a list, too, with a warning", async () => {
    expect(await stageOf(mapping).post(post({ items: [] }))).toEqual({ kind: "none" });
    for (const payload of [{}, { items: {} }, { items: "x" }, [], 5, Object.create({ items: [1] })]) {
      expect(await stageOf(mapping).post(post(payload))).toMatchObject({
        kind: "actions",
        items: [],
        warnings: ['the payload has no list "items"; nothing is done'],
      });
    }
  });

  test("refuses an item for itself", async () => {
    const resolved = await stageOf({ ...mapping, messageTemplate: "{{items[0].text}}" }).post(
      post({ items: [{ text: "a" }, {}, { text: "c" }] }),
    );
    expect(resolved).toMatchObject({
      items: [
        { action: { kind: "agent" } },
        { refusal: { status: 400, message: "hook mapping requires message" } },
        { action: { kind: "agent" } },
      ],
    });
  });

  test("calls the transform for each item, in order, a few at a time; one that skips is no item", async () => {
    let under = 0;
    let most = 0;
    const transforms = {
      "t.ts": async ({ payload }: { payload: unknown }) => {
        most = Math.max(most, ++under);
        await new Promise((resolve) => setImmediate(resolve));
        under -= 1;
        const { id } = (payload as { items: [{ id: number }] }).items[0];
        return id % 2 === 1 ? { kind: "skip" as const } : { kind: "fields" as const, fields: { message: `m${id}` } };
      },
    };
    const resolved = await stageOf({ ...mapping, transform: { module: "t.ts" } }, { transforms }).post(post({ items: items(9) }));
    const made = resolved.kind === "actions" ? resolved.items : [];
    expect(made.map((item) => ("action" in item && item.action.kind === "agent" ? framedTexts(item.action.message)[0] : item))).toEqual([
      "m0",
      "m2",
      "m4",
      "m6",
      "m8",
    ]);
    expect(most).toBe(4);
    const all = { transforms: { "t.ts": transformOf(() => null) } };
    expect(await stageOf({ ...mapping, transform: { module: "t.ts" } }, all).post(post({ items: items(3) }))).toEqual({ kind: "none" });
  });

  test("says the same thing once", async () => {
    const resolved = await stageOf({ ...mapping, thinking: "galactic" }).post(post({ items: items(5) }));
    expect(resolved).toMatchObject({ warnings: { length: 1 } });
  });

  test("ends with its caller", async () => {
    const caller = new AbortController();
    const transforms = { "t.ts": transformOf(() => caller.abort(new Error("gone"))) };
    const resolved = stageOf({ ...mapping, transform: { module: "t.ts" } }, { transforms }).post(
      post({ items: items(50) }, { signal: caller.signal }),
    );
    await expect(resolved).rejects.toThrow("gone");
  });
});
