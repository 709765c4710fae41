import type { HookEvent } from "svc/sdk";
import { beforeEach, expect, test } from "vitest";
import { linesOf, StatusLines } from "./status-lines.ts";

const shown: unknown[] = [];
const lines = () =>
  new StatusLines({
    agents: () => ({ notice: async (note) => void shown.push(note) }),
    messaging: () => ({
      async deliver(message) {
        shown.push(message);
        return { uid: message.uid, route: { channel: message.channel } };
      },
    }),
    logger: { debug: () => undefined },
  });
beforeEach(() => void shown.splice(0));

const ids = { agentId: "main", sessionKey: "agent:main:irc:direct:kim" };
const ended = (runId: string, status: "ok" | "error" = "ok"): HookEvent<"agent.end"> => ({
  runId,
  ...ids,
  trigger: "user",
  status,
  ms: 1,
  usage: {},
});
const sent = (uid: string, part?: { index: number; of: number }): HookEvent<"outbound.sent"> => ({
  uid,
  ...ids,
  channel: "irc",
  accountId: "default",
  to: "kim",
  origin: "chat",
  messageId: "1",
  attempt: 1,
  at: 0,
  ...(part ? { part } : {}),
});

test("an outcome is one line, and what was found another one", () => {
  const base = { ms: 842, mode: "recent" as const, isCached: false };
  expect(linesOf({ ...base, status: "ok", note: "x".repeat(34) })).toEqual([
    "Active Memory: ok 842ms recent 34 chars",
    `Active Memory note: ${"x".repeat(34)}`,
  ]);
  expect(linesOf({ ...base, status: "empty", isCached: true })).toEqual(["Active Memory: empty 842ms recent cached"]);
  expect(linesOf({ ...base, status: "timeout" })).toEqual(["Active Memory: timeout 842ms recent"]);
  expect(linesOf({ ...base, status: "unavailable" })).toEqual(["Active Memory: unavailable 842ms recent"]);
});

test("clients of the web chat see the lines when the run has ended, once, and not after a failure", async () => {
  const all = lines();
  for (const runId of ["a", "b"]) all.add(runId, { lines: ["one", "two"], surface: "webchat" });
  await all.ended(ended("a"));
  await all.ended(ended("a"));
  await all.ended(ended("b", "error"));
  await all.ended(ended("b"));
  expect(shown).toEqual([{ ...ids, text: "one\ntwo" }]);
});

test("on a channel they follow the last part of the answer, to the same place, and are no answer themselves", async () => {
  const all = lines();
  all.add("a", { lines: ["one"], surface: "channel" });
  await all.ended(ended("a"));
  await all.sent(sent("other:out"));
  await all.sent(sent("a:preview"));
  await all.sent(sent("a:out", { index: 1, of: 2 }));
  expect(shown).toEqual([]);
  await all.sent(sent("a:out", { index: 2, of: 2 }));
  await all.sent(sent("a:out", { index: 2, of: 2 }));
  expect(shown).toEqual([
    { ...ids, channel: "irc", to: "kim", accountId: "default", text: "one", isAnswer: false, origin: "chat", uid: "a:active-memory" },
  ]);
});

test("of runs whose answers never come five hundred wait", async () => {
  const all = lines();
  for (let i = 0; i <= 500; i++) all.add(String(i), { lines: ["x"], surface: "channel" });
  await all.sent(sent("0:out"));
  expect(shown).toEqual([]);
  await all.sent(sent("1:out"));
  expect(shown).toHaveLength(1);
});
