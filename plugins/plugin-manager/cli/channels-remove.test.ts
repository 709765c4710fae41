import { expect, test } from "vitest";
import { withoutChannel } from "./channels-remove.ts";

const config = {
  gateway: { mode: "local" },
  channels: { defaults: { historyLimit: 3 }, irc: { host: "h", accounts: { work: { nick: "w" }, home: { nick: "h" } } }, mail: {} },
};

test("a channel goes with all its accounts, and the rest stays", () => {
  expect(withoutChannel(config, "irc")).toEqual({ ...config, channels: { defaults: { historyLimit: 3 }, mail: {} } });
});

test("an account goes alone", () => {
  expect(withoutChannel(config, "irc", "work")).toEqual({
    ...config,
    channels: { ...config.channels, irc: { host: "h", accounts: { home: { nick: "h" } } } },
  });
});

test.each([
  ["a channel that is not there", config, "sky", undefined, 'no channel "sky"; it has irc, mail'],
  ["the defaults of all", config, "defaults", undefined, 'no channel "defaults"'],
  ["a channel of a config without any", {}, "irc", undefined, "it has none"],
  ["an account that is not there", config, "irc", "toString", 'no account "toString"'],
  ["the account that the section itself is", config, "mail", "default", "svc channels remove mail"],
  [
    "the last account, in whose place the section would stand",
    { channels: { irc: { accounts: { work: {} } } } },
    "irc",
    "work",
    "the last one",
  ],
])("%s is refused with what there is", (_, source, channel, account, reason) => {
  expect(() => withoutChannel(source, channel, account)).toThrow(reason);
});
