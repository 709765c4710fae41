import { randomUUID } from "node:crypto";
import type { JsonObject, Store, StoreOp, SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, type FakeClock, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";
import { record } from "../../../test/fixtures/agents-gateway.ts";
import { holdNext } from "../../../test/fixtures/held-read.ts";
import { newSession } from "./row.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let gw: TestGateway;
let clock: FakeClock;
/** Added to the time of day, which somebody may set; time itself goes on as before. */
let offMs = 0;
/** When the first pass looks at the sessions. */
let passAt: number;

afterEach(() => gw.close());

async function start(maintenance: NonNullable<NonNullable<SvcConfigInput["session"]>["maintenance"]>): Promise<Store> {
  offMs = 0;
  const steady = fakeClock();
  clock = Object.assign(Object.create(steady) as FakeClock, { now: () => steady.now() + offMs });
  passAt = clock.now() + MINUTE_MS;
  gw = await createTestGateway({
    plugins: ["store", "agents"],
    config: { agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" } } }, session: { maintenance } },
    clock,
    models: [fakeModel(["hello"])],
  });
  return gw.service("store@2");
}

/** A session with one record, unused for this long at the first pass. */
function used(key: string, ageMs: number, { text = "hi", pinned = false }: { text?: string; pinned?: boolean } = {}): StoreOp[] {
  const at = passAt - ageMs;
  const session = { ...newSession(`agent:main:${key}`, "main", at), lastActivityAt: at, pinned };
  const message = {
    id: randomUUID(),
    sessionId: session.sessionId,
    ts: at,
    role: "user" as const,
    content: [{ type: "text" as const, text }],
  };
  return [
    { op: "session.put", session },
    { op: "message.append", message },
  ];
}

async function pass(afterMs = MINUTE_MS): Promise<JsonObject> {
  await clock.advance(afterMs);
  return eventually(async () => {
    const { sessionMaintenance } = await gw.rpc<{ sessionMaintenance?: JsonObject }>("health", { probe: true });
    expect(sessionMaintenance?.lastRunAt).toBe(clock.now());
    return sessionMaintenance;
    // Each session goes in a commit of its own, which a busy disk makes long.
  }, 40_000);
}

const keys = async (store: Store) => {
  const { rows } = await store.sessions.list({ limit: 1_000 });
  return rows.map((row) => row.key.replace("agent:main:", "")).sort();
};
const transcripts = (store: Store) => store.transcripts.page({ limit: 1_000 });

describe("by age", () => {
  test("a session goes with its transcript after more than pruneAfter, and stays at it", async () => {
    const store = await start({ pruneAfter: "30d" });
    await store.commit([...used("at", 30 * DAY_MS), ...used("past", 30 * DAY_MS + 1), ...used("new", 0)]);
    const client = await gw.client();
    const frames = record(client);
    await client.request("sessions.subscribe", {});

    expect(await pass()).toMatchObject({ mode: "enforce", expired: 1, surplus: 0, archives: 0 });

    expect(await keys(store)).toEqual(["at", "new"]);
    expect(await transcripts(store)).toHaveLength(2);
    await eventually(() => frames.some(({ event, payload }) => event === "sessions.changed" && payload.reason === "delete"));
    expect(frames.find(({ event }) => event === "sessions.changed")?.payload).toMatchObject({ sessionKey: "agent:main:past" });
  });

  test("a clock that goes a year ahead deletes nothing before a second look a minute later says the same", async () => {
    const store = await start({ pruneAfter: "30d" });
    await store.commit(used("kept", DAY_MS));
    expect(await pass()).toMatchObject({ expired: 0 });

    offMs = 365 * DAY_MS;
    await clock.advance(HOUR_MS);
    await eventually(() => gw.logs.some(({ message }) => message.startsWith("the clock went forward by more than a day")));
    offMs = 0;
    await pass();
    expect(await keys(store)).toEqual(["kept"]);

    offMs = 365 * DAY_MS;
    await clock.advance(HOUR_MS);
    await eventually(() => gw.logs.filter(({ message }) => message.startsWith("the clock went forward")).length === 2);
    expect(await keys(store)).toEqual(["kept"]);
    expect(await pass()).toMatchObject({ expired: 1 });
  });

  test("a clock that goes a year back deletes nothing, and after it was put right passes go on", async () => {
    const store = await start({ pruneAfter: "30d" });
    await store.commit([...used("kept", DAY_MS), ...used("old", 40 * DAY_MS)]);
    offMs = -365 * DAY_MS;
    expect(await pass()).toMatchObject({ expired: 0 });
    offMs = 0;
    await clock.advance(HOUR_MS);
    expect(await pass()).toMatchObject({ expired: 1 });
    expect(await keys(store)).toEqual(["kept"]);
  });

  test("sessions.cleanup counts, or deletes at once whatever the mode is; doctor finds what nobody deletes, too much of it among it", async () => {
    const store = await start({ mode: "warn", pruneAfter: "30d", maxDiskBytes: 1_000_000 });
    await store.commit([...used("old", 40 * DAY_MS), ...used("kept", 0, { text: "x".repeat(1_200_000) })]);
    await store.commit(used("gone", 40 * DAY_MS));
    await store.commit([{ op: "session.delete", key: "agent:main:gone", deleteTranscript: false }]);
    const findings = async () =>
      (await gw.rpc<{ findings: Array<{ id: string }> }>("gateway.doctor")).findings
        .map(({ id }) => id)
        .filter((id) => id.startsWith("sessions/"));
    expect((await findings()).sort()).toEqual(["sessions/disk", "sessions/orphans"]);
    expect(await gw.rpc("sessions.cleanup", { dryRun: true })).toMatchObject({ mode: "warn", expired: 1, archives: 1 });
    expect(await keys(store)).toEqual(["kept", "old"]);

    expect(await gw.rpc("sessions.cleanup")).toMatchObject({ mode: "enforce", expired: 1, archives: 1, forSpace: 1 });
    expect(await keys(store)).toEqual([]);
    expect(await findings()).toEqual([]);
  });

  test("a main session, a pinned one and one with an event that waits stay", async () => {
    const store = await start({ pruneAfter: "1h" });
    const event = { sessionKey: "agent:main:waits", text: "look", source: "hook", ts: 0, wake: false };
    await store.commit([
      ...used("main", DAY_MS),
      ...used("pinned", DAY_MS, { pinned: true }),
      ...used("waits", DAY_MS),
      ...used("old", DAY_MS),
      { op: "systemEvent.add", event },
    ]);
    expect(await pass()).toMatchObject({ expired: 1 });
    expect(await keys(store)).toEqual(["main", "pinned", "waits"]);
  });

  test("a session that gets an event right before it would be deleted stays, and so does the event", async () => {
    const store = await start({ pruneAfter: "1h" });
    await store.commit(used("old", DAY_MS));
    // The events are read twice: when the session is listed, and right before it is deleted.
    const listed = holdNext(gw.service("store@2"), "systemEvents.pending");
    await clock.advance(MINUTE_MS);
    await listed.asked;
    const checked = holdNext(gw.service("store@2"), "systemEvents.pending");
    listed.release();
    await checked.asked;
    const event = { sessionKey: "agent:main:old", text: "look", source: "hook", ts: 0, wake: false };
    await store.commit([{ op: "systemEvent.add", event }]);
    checked.release();

    expect(await pass(0)).toMatchObject({ expired: 0 });

    expect(await keys(store)).toEqual(["old"]);
    expect(await store.systemEvents.pending("agent:main:old", 10)).toMatchObject([{ text: "look" }]);
  });

  test("a request without a session of its own goes after a day, whatever pruneAfter says", async () => {
    const store = await start({});
    const id = randomUUID();
    for (const name of ["openai", "openresponses"]) {
      await store.commit([...used(`${name}:${id}`, DAY_MS), ...used(`${name}:${randomUUID()}`, DAY_MS + 1)]);
      await store.commit(used(`${name}-user:ada`, 2 * DAY_MS));
    }
    const key = `agent:main:openai:${randomUUID()}`;
    const old = { ...newSession(key, "main", passAt - DAY_MS - 1), lastRunId: "old-run" };
    const ids = { runId: "old-run", sessionKey: key, sessionId: old.sessionId, agentId: "main" };
    const run = { ...ids, state: "ok" as const, trigger: "user" as const, bootId: "b", createdAt: 1, endedAt: 2 };
    await store.commit([
      { op: "session.put", session: old },
      { op: "run.put", run },
    ]);
    await pass();
    expect(await store.runs.get("old-run")).toBeUndefined();
    expect(await keys(store)).toEqual([`openai:${id}`, "openai-user:ada", `openresponses:${id}`, "openresponses-user:ada"].sort());
  });

  test("it is looked at again every hour", async () => {
    const store = await start({ pruneAfter: "1h" });
    await store.commit(used("young", MINUTE_MS));
    await pass();
    expect(await keys(store)).toEqual(["young"]);
    expect(await pass(HOUR_MS)).toMatchObject({ expired: 1 });
    expect(await keys(store)).toEqual([]);
  });
});

describe("by number", () => {
  test.each([
    [3, ["a", "b", "c"]],
    [2, ["a", "b"]],
  ])("at most %i sessions stay, those used last", async (maxEntries, expected) => {
    const store = await start({ maxEntries });
    await store.commit([...used("c", 3 * HOUR_MS), ...used("a", HOUR_MS), ...used("b", 2 * HOUR_MS)]);
    expect(await pass()).toMatchObject({ surplus: 3 - maxEntries });
    expect(await keys(store)).toEqual(expected);
  });

  test("more sessions than one page are within the limit after one pass", async () => {
    const store = await start({ maxEntries: 10 });
    await store.commit(Array.from({ length: 450 }, (_, i) => used(`n${String(i).padStart(3, "0")}`, i * MINUTE_MS)).flat());
    await pass();
    expect(await keys(store)).toEqual(Array.from({ length: 10 }, (_, i) => `n00${i}`));
    expect(await transcripts(store)).toHaveLength(10);
  });
});

describe("archives", () => {
  test("a transcript of before a reset is kept for resetArchiveRetention, counted from the reset", async () => {
    const store = await start({ resetArchiveRetention: "1h" });
    await store.commit(used("main", 40 * DAY_MS));
    const { rows } = await store.sessions.list({ limit: 1 });
    const old = rows[0]?.sessionId ?? "";
    await pass();
    await gw.rpc("sessions.reset", { key: "main" });

    await pass(HOUR_MS);
    expect(await store.messages.count(old)).toBe(1);
    expect(await pass(HOUR_MS)).toMatchObject({ archives: 1 });

    expect(await store.messages.count(old)).toBe(0);
    expect(await store.kv.list("session-archive", "")).toEqual([]);
    expect(await keys(store)).toEqual(["main"]);
  });
});

describe("by space", () => {
  const big = "x".repeat(100_000);

  test("above maxDiskBytes the oldest archives go first, then the sessions unused for longest, down to highWaterBytes", async () => {
    const store = await start({ maxDiskBytes: 1_500_000, highWaterBytes: "60%" });
    const talks = Array.from({ length: 12 }, (_, i) => used(`s${String(i).padStart(2, "0")}`, i * MINUTE_MS, { text: big }));
    await store.commit([...talks.flat(), ...used("gone", HOUR_MS, { text: big })]);
    const archived = (await store.sessions.get("agent:main:gone"))?.sessionId ?? "";
    await gw.rpc("sessions.delete", { key: "gone", deleteTranscript: false });
    await store.commit([...used("one-more", 0, { text: big }), ...used("and-another", 0, { text: big })]);
    expect(await store.transcripts.usedBytes()).toBeGreaterThan(1_500_000);

    const { forSpace, usedBytes } = await pass();

    expect(usedBytes).toBeLessThanOrEqual(900_000);
    expect(await store.messages.count(archived)).toBe(0);
    expect(forSpace).toBeGreaterThan(1);
    const left = (await keys(store)).filter((key) => key.startsWith("s"));
    expect(left).toEqual(Array.from({ length: left.length }, (_, i) => `s${String(i).padStart(2, "0")}`));
    expect(left.length).toBeGreaterThan(0);
  });

  test("what may not go is said: health is not ok", async () => {
    const store = await start({ maxDiskBytes: 1_000_000 });
    await store.commit(Array.from({ length: 15 }, (_, i) => used(`p${i}`, 0, { text: big, pinned: true })).flat());
    await pass();
    expect(await keys(store)).toHaveLength(15);
    const { problems } = await gw.rpc<{ problems: JsonObject }>("health", { probe: true });
    expect(problems.sessionMaintenance).toMatch(/more than session\.maintenance\.maxDiskBytes \(1000000\)/);
  });
});

describe("the mode", () => {
  test("warn deletes nothing and says what it would", async () => {
    const store = await start({ mode: "warn", pruneAfter: "1h", maxEntries: 1, resetArchiveRetention: 0 });
    await store.commit([...used("old", DAY_MS), ...used("a", 0), ...used("b", MINUTE_MS)]);
    await gw.rpc("sessions.delete", { key: "b", deleteTranscript: false });
    await store.commit(used("c", MINUTE_MS));

    expect(await pass()).toMatchObject({ mode: "warn", expired: 1, surplus: 1, archives: 1 });

    expect(await keys(store)).toEqual(["a", "c", "old"]);
    expect(await transcripts(store)).toHaveLength(4);
    expect(gw.logs.filter(({ level }) => level === "warn").map(({ message }) => message)).toContain(
      "sessions exceed the limits of session.maintenance; mode enforce would delete them",
    );
  });

  test("off does nothing", async () => {
    const store = await start({ mode: "off", pruneAfter: "1h" });
    await store.commit(used("old", DAY_MS));
    expect(await pass()).toEqual({ mode: "off", lastRunAt: passAt });
    expect(await keys(store)).toEqual(["old"]);
  });
});
