import { expect, test } from "vitest";

const { actOf, canSignIn, factsOf, reasonOf, senderWords, sentenceOf, sentWords, stateOf } = await import(
  new URL("./public/core/channel-facts.js", import.meta.url).href
);

const NOW = 1_700_000_000_000;
const account = (change: object = {}) => ({
  ...{ accountId: "default", enabled: true, configured: true, running: true, lifecycle: "ready", restarts: 0 },
  ...{ reconnectAttempts: 0, queueDepth: 0, dmPolicy: "pairing" },
  ...change,
});

test.each([
  [{}, "ready", "ok", "stop"],
  [{ lifecycle: "starting" }, "starting", "busy", "stop"],
  [{ lifecycle: "recovering" }, "connecting again", "warn", "stop"],
  [{ lifecycle: "blocked" }, "blocked", "bad", "start"],
  [{ lifecycle: "stopped" }, "stopped", "info", "start"],
  [{ lifecycle: "stopped", stoppedByHand: true }, "stopped by hand", "info", "start"],
  [{ lifecycle: "stopped", enabled: false }, "disabled", "", undefined],
  [{ lifecycle: "stopped", configured: false }, "incomplete", "warn", undefined],
])("an account is a word and a colour, and what a person may do: %j", (change, word, level, act) => {
  expect(stateOf(account(change))).toEqual({ word, level });
  expect(actOf(account(change))).toBe(act);
});

test("the reason is shown while it does not work, and not of an account that is off", () => {
  const lost = { lastError: "refused" };
  expect(reasonOf(account({ ...lost, lifecycle: "blocked" }))).toBe("refused");
  expect(reasonOf(account(lost))).toBeUndefined();
  expect(reasonOf(account({ configured: false, missing: ["host", "nick"] }))).toBe("The config lacks host, nick.");
  expect(reasonOf(account({ ...lost, enabled: false }))).toBeUndefined();
});

test("facts are told in words, those that are not there not at all", () => {
  expect(factsOf(account(), NOW)).toEqual([]);
  const all = { identity: "svc", lastInboundAt: NOW - 120_000, lastOutboundAt: NOW - 1_000, queueDepth: 1_200, restarts: 1 };
  expect(factsOf(account(all), NOW)).toEqual(["svc", "last in 2 min ago", "last out just now", "1,200 waiting to be sent", "1 restart"]);
  expect(factsOf(account({ lastError: "timed out" }), NOW)).toEqual(["last error: timed out"]);
  expect(factsOf(account({ lastError: "timed out", lifecycle: "blocked" }), NOW)).toEqual([]);
});

test.each([
  [{}, {}, "No channel is set up: people reach the agent on this page only."],
  [{ irc: [account()] }, {}, "1 of 1 account ready."],
  [{ irc: [account(), account({ lifecycle: "blocked" })] }, {}, "1 of 2 accounts ready, 1 needs you."],
  [{ irc: [account({ configured: false })] }, { mail: { error: "no" } }, "0 of 1 account ready, 2 need you."],
])("the sentence counts what is ready and what needs somebody: %#", (channelAccounts, channels, sentence) => {
  expect(sentenceOf({ channelOrder: [], channelLabels: {}, channelAccounts, channels })).toBe(sentence);
});

test("an account is signed in where its channel says that it has a way", () => {
  const channelMeta = [{ id: "signal", canLogin: true }, { id: "irc", canLogin: false }, { id: "old" }];
  expect(["signal", "irc", "old", "none"].map((id) => canSignIn({ channelMeta }, id))).toEqual([true, false, false, false]);
  expect(canSignIn({}, "signal")).toBe(false);
});

test("a sender is named with the id that nobody else can take on", () => {
  expect(senderWords({ senderId: "@ada", senderName: "Ada" })).toBe("Ada (@ada)");
  expect(senderWords({ senderId: "@ada", senderName: "@ada" })).toBe("@ada");
});

test.each(["sent", "queued", "uncertain"])("an outcome of a test message is a sentence with the recipient: %s", (status) => {
  expect(sentWords({ status, to: "#kitchen" })).toMatch(/#kitchen.*\.$/);
});
