import { definePlugin, type ModelRequest, z } from "svc/sdk";
import { createTestGateway, eventually, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { timeTexts, toSchedule } from "./tool-times.ts";

const now = Date.parse("2026-03-28T12:00:00Z");

test("short forms become schedules; a local time is that of its zone, one that is skipped comes after the gap", () => {
  for (const [times, expected] of [
    [
      { at: "2026-03-29T02:30", tz: "Europe/Berlin" },
      { kind: "at", at: "2026-03-29T01:30:00.000Z" },
    ],
    [
      { at: "2026-07-01 10:00:30", tz: "America/New_York" },
      { kind: "at", at: "2026-07-01T14:00:30.000Z" },
    ],
    [
      { at: "2026-07-01T10:00:00+02:00", tz: "Asia/Tokyo" },
      { kind: "at", at: "2026-07-01T08:00:00.000Z" },
    ],
    [{ in: "1h 30m" }, { kind: "at", at: "2026-03-28T13:30:00.000Z" }],
    [{ every: "15m" }, { kind: "every", everyMs: 900_000 }],
    [
      { cron: "30 8 * * 1-5", tz: "Europe/Berlin" },
      { kind: "cron", expr: "30 8 * * 1-5", tz: "Europe/Berlin" },
    ],
    [{}, undefined],
  ] as const)
    expect([times, toSchedule(times, now)]).toEqual([times, expected]);
});

test("a time that cannot be meant is an error that says what was expected, and what time it is", () => {
  for (const [times, message] of [
    [{ at: "2026-03-28T12:59", tz: "Europe/Berlin" }, /is past; now is 2026-03-28 13:00:00, 2026-03-28T12:00:00.000Z/],
    [{ at: "tomorrow" }, /no time; expected ISO 8601/],
    [{ at: "2026-13-01T10:00" }, /no time/],
    [{ at: "2026-07-01T10:00", tz: "Mars/Base" }, /unknown time zone/],
    [{ every: "30s" }, /too often; the shortest interval is 60s/],
    [{ in: "soon" }, /no duration/],
    [{ in: "5m", every: "5m" }, /not several/],
  ] as const)
    expect(() => toSchedule(times, now), JSON.stringify(times)).toThrow(message);
});

test("a time is read back on the clock of its zone, with its weekday, and in UTC", () => {
  expect(timeTexts(now, "Asia/Tokyo")).toEqual({
    local: "2026-03-28 21:00:00",
    weekday: "Saturday",
    utc: "2026-03-28T12:00:00.000Z",
    tz: "Asia/Tokyo",
  });
});

const clock = fakeClock(now);
let gateway: TestGateway;
/** A job of the operator for the main session. */
let mainJob: string;
/** Origins of the calls of a tool that a job has. */
const origins: string[] = [];
const look = definePlugin({
  id: "look",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool({ name: "look_up", description: "Looks", input: z.object({}), run: (_, { origin }) => `${origins.push(origin)}` });
  },
});
const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] });
beforeAll(async () => {
  const remind = call("cron", { action: "add", in: "1m", text: "Look up the tide." });
  const rename = () => call("cron", { action: "update", id: mainJob, name: "Mine" });
  const tell = ({ messages }: ModelRequest) => {
    const last = messages.at(-1);
    return last?.role === "tool" ? last.text : "";
  };
  const model = fakeModel([remind, "Planned.", call("look_up", {}), "The tide is high.", rename, tell]);
  gateway = await createTestGateway({ plugins: ["store", "agents", "cron", look], clock, models: [model] });
}, 120_000);
afterAll(() => gateway.close());

test("a job that an owner plans on a channel has no more rights than that conversation", async () => {
  const say = async (message: string) => {
    const asked = { message, sessionKey: "agent:main:talk:direct:ada", trigger: "user" as const, isOwner: true };
    return (await gateway.service("agents@1").run({ ...asked, actor: { kind: "channel", scopes: [] } })).done;
  };
  expect(await say("remind me")).toMatchObject({ status: "ok" });
  const { jobs } = await gateway.rpc<{ jobs: Array<{ id: string }> }>("cron.list", {});
  expect(jobs).toMatchObject([{ origin: "person", payload: { message: "Look up the tide." } }]);
  expect(await gateway.rpc("cron.update", { id: jobs[0]?.id, patch: { name: "Tide" } })).toMatchObject({ name: "Tide", origin: "person" });
  await clock.advance(61_000);
  await eventually(() => origins.length === 1);
  expect(origins).toEqual(["person"]);
  await eventually(async () => (await gateway.rpc<{ jobs: object[] }>("cron.list", {})).jobs.length === 0);

  const job = { name: "Report", schedule: { kind: "every", everyMs: 86_400_000 }, sessionTarget: "main", wakeMode: "next-heartbeat" };
  ({ id: mainJob } = await gateway.rpc<{ id: string }>("cron.add", { ...job, payload: { kind: "systemEvent", text: "Report." } }));
  expect((await say("rename it")).text).toContain("the operator planned this job for the main session");
  await gateway.rpc("cron.remove", { id: mainJob });
});

test("the tool adds, changes, lists and removes jobs, but none from a job, and no more than a hundred", async () => {
  const call = { agentId: "main", sessionKey: "agent:main:main", signal: AbortSignal.timeout(60_000) };
  const use = async (args: object, more: object = {}) => {
    const { content, isError } = await gateway.service("agents@1").invokeTool("cron", args, { ...call, ...more });
    const [said] = content;
    const text = said?.type === "text" ? said.text : "";
    return isError ? text : JSON.parse(text);
  };
  const added = await use({ action: "add", cron: "0 9 * * *", tz: "Europe/Berlin", text: "Say good morning." });
  expect(added).toMatchObject({ added: true, next: { local: "2026-03-29 09:00:00", weekday: "Sunday", utc: "2026-03-29T07:00:00.000Z" } });
  expect(await use({ action: "update", id: added.id, enabled: false })).toMatchObject({ enabled: false });
  expect(await use({ action: "list" })).toMatchObject([{ id: added.id, schedule: "0 9 * * * (Europe/Berlin)" }]);
  expect(await use({ action: "runs", id: added.id })).toMatchObject({ entries: [] });
  const inJob = { sessionKey: "agent:main:cron:x:run:y" };
  await expect(use({ action: "add", in: "5m", text: "x" }, inJob)).rejects.toThrow(/cannot be planned/);
  await expect(use({ action: "add", text: "x" })).rejects.toThrow(/the time is missing/);
  await expect(use({ action: "remove" })).rejects.toThrow(/id is missing/);
  for (let n = 1; n < 100; n += 1) await use({ action: "add", in: "5m", text: `x${n}` });
  await expect(use({ action: "add", in: "5m", text: "one more" })).rejects.toThrow(/there are 100 jobs already/);
  expect(await use({ action: "remove", id: added.id })).toEqual({ removed: true, id: added.id });
});
