import { expect, test } from "vitest";
import { channelsLine } from "./channels-line.ts";

const irc = { channel: "irc", accountId: "default", lifecycle: "ready", queueDepth: 0 };

test.each([
  ["none is configured", [], undefined],
  ["one account", [irc], "irc ready"],
  ["several", [irc, { channel: "mail", accountId: "work", lifecycle: "blocked", queueDepth: 2 }], "irc ready, mail/work blocked"],
])("channels: %s", (_name, summary, line) => {
  expect(channelsLine(summary)).toBe(line);
});
