import { expect, test } from "vitest";
import { jobName, toJob } from "./to-job.ts";

const place = { agents: new Set(["main", "ops"]), defaultAgent: "main", now: Date.parse("2026-01-01T00:00:00Z") };
const base = {
  id: "j1",
  name: "Report",
  enabled: true,
  schedule: { kind: "cron", expr: "30 8 * * *", tz: "Europe/Berlin", other: 1 },
  sessionTarget: "isolated",
  wakeMode: "now",
  payload: { kind: "agentTurn", message: "Sum up.", lightContext: true },
};

test("a job becomes one of svc, switched off, with what is known of it", () => {
  expect(toJob({ ...base, agentId: "OPS", delivery: { mode: "announce", channel: "irc", to: "bo", x: 1 } }, "Report", place)).toMatchObject(
    {
      ...{ id: "j1", name: "Report", enabled: false, agentId: "ops", sessionTarget: "isolated", wakeMode: "now", configRevision: 1 },
      schedule: { kind: "cron", expr: "30 8 * * *", tz: "Europe/Berlin" },
      payload: { kind: "agentTurn", message: "Sum up." },
      delivery: { mode: "announce", channel: "irc", to: "bo" },
    },
  );
  const once = { ...base, schedule: { kind: "at", atMs: place.now + 60_000 }, payload: { ...base.payload, deliver: true, to: "bo" } };
  expect(toJob(once, "x", place)).toMatchObject({
    schedule: { kind: "at", at: "2026-01-01T00:01:00.000Z" },
    delivery: { mode: "announce", to: "bo" },
  });
  expect(toJob({ ...base, id: "a b" }, "x", place)).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{32}$/) });
});

test("one that cannot be one of svc has a reason", () => {
  for (const [more, reason] of [
    [{ agentId: "gone" }, /agent "gone" is not configured here/],
    [{ schedule: { kind: "at", at: "2025-01-01T00:00:00Z" } }, /its time is past/],
    [{ schedule: { kind: "moon" } }, /schedule/],
    [{ sessionTarget: "main" }, /does not fit its session/],
    [{ delivery: { mode: "webhook", to: "https://x" } }, /webhook/],
    [{ payload: { kind: "agentTurn" } }, /message/],
    [{ payload: undefined, sessionTarget: undefined }, /sessionTarget|payload/],
  ] as const)
    expect([reason, toJob({ ...base, ...more }, "x", place)]).toEqual([reason, expect.stringMatching(reason)]);
});

test("a job without a name has its id, or its place, for one", () => {
  expect([jobName({ name: "a\nb" }, 0), jobName({ id: "j" }, 0), jobName({}, 2)]).toEqual(["a b", "j", "job 3"]);
});
