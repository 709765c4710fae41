import type { RunRequest } from "svc/sdk";
import { expect, test } from "vitest";
import { GivenHistories, isLong } from "./given-history.ts";

type Turns = NonNullable<RunRequest["history"]>;
const turns = (chars: number): Turns => [{ role: "user", content: [{ type: "text", text: "x".repeat(chars) }] }];
const MIB = 1024 * 1024;

test("a history is long by its texts, pictures and arguments together", () => {
  const call = (args: unknown): Turns => [{ role: "assistant", content: [{ type: "toolCall", id: "c", name: "f", arguments: args }] }];
  const picture: Turns = [{ role: "user", content: [{ type: "image", mimeType: "image/png", data: "A".repeat(8_193) }] }];
  expect([turns(8_192), turns(8_193), picture, call({ a: "x".repeat(8_193) }), call(undefined), []].map(isLong)).toEqual([
    ...[false, true, true, true, false, false],
  ]);
});

test("histories are kept up to 16 MiB, and as long as their responses; the oldest go first", () => {
  const kept = new GivenHistories(1_000);
  for (const [i, key] of ["a", "b", "c", "d"].entries()) kept.keep(key, turns(4 * MIB), i);
  kept.keep("a", turns(4 * MIB), 4);
  expect(kept.of("b")).toBeDefined();
  kept.keep("e", turns(1), 5);
  expect(["a", "b", "c", "d", "e"].filter((key) => kept.of(key))).toEqual(["a", "c", "d", "e"]);

  kept.keep("f", turns(1), 1_004);
  expect(["a", "c", "d", "e", "f"].filter((key) => kept.of(key))).toEqual(["e", "f"]);
});
