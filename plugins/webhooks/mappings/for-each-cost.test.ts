import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { framedTexts, hookStage, transformOf } from "../../../test/fixtures/hook-resolver.ts";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import { itemsOf } from "./items.ts";
import { parseTemplate, renderText } from "./template.ts";

const wide = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key-${i}`, i]));
const items = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));
const stageOf = (mapping: object, more = {}) =>
  hookStage({ ...more, hooks: { mappings: [{ match: { path: "shop" }, forEach: "items", ...mapping }] } });

describe("a list of items in a payload of many keys", () => {
  test("does not block the event loop: the payload is not copied for each of them", () => {
    const template = parseTemplate("{{shop}} {{items[0].id}}");
    const work = (n: number) => {
      // As many items as keys: a copy for each would be quadratic.
      const payload = { shop: "North", ...wide(n * 50), items: items(Math.min(200, n)) };
      const at = { path: "shop", now: "", headers: {}, url: new URL("http://h/") };
      return () => itemsOf(payload, "items").payloads.map((one) => renderText(template, { ...at, payload: one }));
    };

    expect(growth(work, { from: 3, to: 200 })).toBeLessThan(LINEAR);
  });

  test("lets others have their turn between two items", async () => {
    let turns = 0;
    let isDone = false;
    const resolving = stageOf({ messageTemplate: "{{payload}}" })
      .post({ path: "shop", payload: { ...wide(2_000), items: items(50) } })
      .finally(() => {
        isDone = true;
      });
    while (!isDone) {
      await nextTurn();
      turns += 1;
    }

    expect(await resolving).toMatchObject({ items: { length: 50 } });
    // Four items are worked on at once.
    expect(turns).toBeGreaterThanOrEqual(50 / 4);
  });

  test("shows each item the whole payload with itself as the only item", async () => {
    const resolved = await stageOf({ messageTemplate: "{{payload}}" }).post({ path: "shop", payload: { a: 1, items: [5, 6], z: [] } });
    const texts = (resolved.kind === "actions" ? resolved.items : []).flatMap((item) =>
      "action" in item && item.action.kind === "agent" ? framedTexts(item.action.message) : [],
    );

    expect(texts).toEqual(['{"a":1,"items":[5],"z":[]}', '{"a":1,"items":[6],"z":[]}']);
  });
});

describe("what a fan-out may make of one body", () => {
  test("a transform gets 4 MiB beside the items in all calls together; more is 413 before the first", async () => {
    let calls = 0;
    const transforms = {
      "t.ts": transformOf(() => {
        calls += 1;
        return { message: "m" };
      }),
    };
    const stage = stageOf({ transform: { module: "t.ts" } }, { transforms });
    const beside = (chars: number) => ({ text: "x".repeat(chars - '{"text":"","items":[null]}'.length), items: items(128) });
    const most = (4 * 1024 * 1024) / 128;

    expect(await stage.post({ path: "shop", payload: beside(most) })).toMatchObject({ items: { length: 128 } });
    expect(calls).toBe(128);
    expect(await stage.post({ path: "shop", payload: beside(most + 1) })).toMatchObject({
      items: [{ refusal: { status: 413, message: 'the payload beside "items" is too large to be sent with each of 128 items' } }],
    });
    expect(calls).toBe(128);
  });

  test("its actions have 16 MiB of text together; the items behind that are refused", async () => {
    const resolved = await stageOf({ messageTemplate: "{{text}}" }).post({
      path: "shop",
      payload: { text: "x ".repeat(60_000), items: items(200) },
    });
    const made = resolved.kind === "actions" ? resolved.items : [];

    expect(made.length).toBe(200);
    expect(made.filter((item) => "action" in item).length).toBeGreaterThan(130);
    expect(made.at(-1)).toMatchObject({ refusal: { status: 413 } });
  });
});
