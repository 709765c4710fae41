import type { SvcConfig } from "svc/sdk";
import { expect, test } from "vitest";
import { isSendAllowed } from "./send-policy.ts";

type Rules = SvcConfig["session"]["sendPolicy"]["rules"];

const deny = (match: Rules[number]["match"]): Rules => [{ action: "deny", match }];
const room = "agent:main:irc:group:#ops";

test.each<[string, Rules, string, string, boolean]>([
  ["without a rule the default holds", [], room, "irc", true],
  ["a rule without fields is for all", deny({}), room, "irc", false],
  ["a channel", deny({ channel: "irc" }), room, "irc", false],
  ["another channel", deny({ channel: "xmpp" }), room, "irc", true],
  ["a group", deny({ chatType: "group" }), room, "irc", false],
  ["a thread of a group", deny({ chatType: "group" }), `${room}:thread:1`, "irc", false],
  ["a direct chat", deny({ chatType: "direct" }), "agent:main:irc:direct:ada", "irc", false],
  ["the main session, which counts as direct", deny({ chatType: "direct" }), "agent:main:main", "irc", false],
  ["no group", deny({ chatType: "group" }), "agent:main:main", "irc", true],
  ["a prefix of the key without its agent", deny({ keyPrefix: "irc:" }), room, "irc", false],
  ["that prefix is not sought in the whole key", deny({ keyPrefix: "agent:" }), room, "irc", true],
  ["a prefix of the whole key", deny({ rawKeyPrefix: "agent:main:" }), room, "irc", false],
  ["fields that do not all match", deny({ channel: "irc", chatType: "direct" }), room, "irc", true],
  ["the first rule that matches", [{ action: "allow", match: { chatType: "group" } }, ...deny({})], room, "irc", true],
])("%s", (_name, rules, sessionKey, channel, allowed) => {
  expect(isSendAllowed({ default: "allow", rules }, { channel, sessionKey })).toBe(allowed);
  if (rules.length === 0) expect(isSendAllowed({ default: "deny", rules }, { channel, sessionKey })).toBe(false);
});
