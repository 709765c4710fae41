import type { Channel } from "svc/sdk";
import { expect, test } from "vitest";
import { isListedOwner } from "./owners.ts";

const channel = (caseSensitiveIds?: boolean) => ({ id: "talk", capabilities: { caseSensitiveIds } }) as unknown as Channel;
const config = { commands: { ownerAllowFrom: [" talk:Ada ", "chat:bob"], restart: true } };

test.each([
  ["Ada", true, true],
  ["ada", true, false],
  ["ada", false, true],
  ["ADA", undefined, true],
  ["bob", false, false],
  ["", false, false],
])("%s on a channel whose ids tell cases apart (%s) is an owner: %s", (id, isCaseSensitive, expected) => {
  expect(isListedOwner(id, channel(isCaseSensitive), config)).toBe(expected);
});
