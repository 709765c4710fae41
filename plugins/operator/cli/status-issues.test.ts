import { expect, test } from "vitest";
import { issuesOf } from "./status-issues.ts";

test.each([
  [{}, []],
  [{ plugins: { errors: [] }, problems: {} }, []],
  [{ plugins: { errors: [{ id: "irc", error: "no server" }] } }, ["plugin irc: no server"]],
  [
    { plugins: { errors: [], quarantined: [{ id: "irc", hook: "rpc.before", lastError: "boom" }] } },
    ["plugin irc: its handler of rpc.before fails again and again and rests: boom"],
  ],
  [
    { plugins: { errors: [], quarantined: [{ id: "irc", hook: "rpc.after" }] } },
    ["plugin irc: its handler of rpc.after fails again and again and rests"],
  ],
  [{ problems: { eventLoopStall: "blocked" } }, ["eventLoopStall: blocked"]],
])("%j is told as %j", (status, lines) => {
  expect(issuesOf(status)).toEqual(lines);
});
