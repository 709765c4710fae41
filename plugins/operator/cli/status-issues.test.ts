import { expect, test } from "vitest";
import type { ReloadFigures } from "./reload-line.ts";
import { issuesOf, reloadIssue } from "./status-issues.ts";

const reload: ReloadFigures = { status: "active", pendingRestart: [], issues: [], since: 0 };

test.each<[Parameters<typeof issuesOf>[0], string[]]>([
  [{}, []],
  [{ plugins: { errors: [] }, problems: {} }, []],
  [{ plugins: { errors: [{ id: "irc", error: "no server" }] } }, ["plugin irc: no server"]],
  [
    { plugins: { errors: [], quarantined: [{ id: "irc", hook: "rpc.before", lastError: "boom" }] } },
    ["plugin irc: its handler of rpc.before keeps failing and is paused: boom"],
  ],
  [
    { plugins: { errors: [], quarantined: [{ id: "irc", hook: "rpc.after" }] } },
    ["plugin irc: its handler of rpc.after keeps failing and is paused"],
  ],
  [
    { configReload: { ...reload, pendingRestart: ["gateway.port"] } },
    ["config reload: restart pending: gateway.port; svc gateway restart"],
  ],
  [{ configReload: { ...reload, status: "off" } }, []],
  [{ problems: { eventLoopStall: "blocked" } }, ["eventLoopStall: blocked"]],
])("%j is told as %j", (status, lines) => {
  expect(issuesOf(status)).toEqual(lines);
});

test("a config that was not taken over is told until it is mended, with where to look", () => {
  const issues = [{ path: "gateway", message: 'unknown key "prot"' }];
  expect(reloadIssue({ ...reload, status: "invalid", issues })).toMatch(
    /^invalid since .+: gateway: unknown key "prot"; see svc config validate$/,
  );
  expect([reloadIssue(reload), reloadIssue(undefined)]).toEqual([undefined, undefined]);
});
