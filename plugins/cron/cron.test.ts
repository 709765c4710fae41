import { createTestGateway, eventually, fakeClock, fakeModel, type TestGatewayOptions } from "svc/sdk/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { spoken } from "../../test/fixtures/spoken.ts";

const MINUTE = 60_000;
const start = Date.parse("2026-01-01T00:00:00Z");
const plugins = ["store", "agents", "messaging", "cron"];

type Job = { id: string; enabled: boolean; nextRunAtMs?: number; configRevision: number; state: Record<string, unknown> };
type Runs = { entries: Array<Record<string, unknown>>; total: number; hasMore: boolean; nextOffset: number | null };

async function setup(script: Parameters<typeof fakeModel>[0], options: Omit<TestGatewayOptions, "models"> = {}) {
  const clock = fakeClock(start);
  const model = fakeModel(script);
  const gateway = await createTestGateway({ plugins, workspace: { "HEARTBEAT.md": "" }, clock, ...options, models: [model] });
  onTestFinished(() => gateway.close());
  const turn = (name: string, more: object = {}) =>
    gateway.rpc<Job>("cron.add", {
      ...{ name, schedule: { kind: "every", everyMs: MINUTE }, sessionTarget: "isolated", wakeMode: "now" },
      payload: { kind: "agentTurn", message: `do ${name}` },
      ...more,
    });
  const runs = (params: Record<string, unknown> = {}) => gateway.rpc<Runs>("cron.runs", params);
  const ended = (count: number) =>
    eventually(async () => (await runs()).entries.filter(({ status }) => status !== "skipped").length >= count);
  const prompts = () =>
    model.requests.map(({ messages }) => {
      const last = spoken(messages).findLast((m) => m.role === "user");
      return last?.role === "user" ? last.content.map((c) => (c.type === "text" ? c.text : "")).join("|") : "";
    });
  return { clock, model, gateway, turn, runs, ended, prompts };
}

describe("a job", () => {
  test("runs at its times, each once, in a session of its own, and its log says how it ended", async () => {
    const { clock, gateway, model, turn, runs, ended } = await setup(["one", "two"]);
    const socket = await gateway.ws();
    const job = await turn("report");
    expect(job).toMatchObject({ enabled: true, nextRunAtMs: start + MINUTE, configRevision: 1 });
    await clock.advance(MINUTE - 1);
    expect(model.requests).toHaveLength(0);
    await clock.advance(1);
    await ended(1);
    await clock.advance(MINUTE);
    await ended(2);

    const { entries, total } = await runs({ id: job.id });
    expect([total, entries.map(({ summary, status }) => [summary, status])]).toEqual([
      2,
      [
        ["two", "ok"],
        ["one", "ok"],
      ],
    ]);
    const { sessions } = await gateway.rpc<{ sessions: Array<{ key: string }> }>("sessions.list", { limit: 10 });
    const keys = sessions.map(({ key }) => key).filter((key) => key.includes(":cron:"));
    expect(keys.toSorted()).toEqual([1, 2].map((n) => `agent:main:cron:${job.id}:run:${job.id}-${start + n * MINUTE}`));
    const actions = socket.events.filter(({ event }) => event === "cron").map(({ payload }) => payload.action);
    expect(actions).toEqual(["added", "started", "finished", "started", "finished"]);
  });

  test("of the main session tells the agent with a heartbeat, and one that runs once is over then", async () => {
    const { clock, gateway, prompts, ended } = await setup(["Taken."]);
    const at = new Date(start + MINUTE).toISOString();
    const { id } = await gateway.rpc<Job>("cron.add", {
      ...{ name: "bins", schedule: { kind: "at", at }, sessionTarget: "main", wakeMode: "now", deleteAfterRun: true },
      payload: { kind: "systemEvent", text: "Put the bins out." },
    });
    await clock.advance(MINUTE);
    await ended(1);
    await clock.advance(30_000);
    await eventually(() => prompts().length === 1);
    expect(prompts()[0]).toContain("System: Put the bins out.");
    await expect(gateway.rpc("cron.get", { id })).rejects.toMatchObject({ details: { code: "CRON_JOB_NOT_FOUND", jobId: id } });
    // Its log can still be read.
    expect((await gateway.rpc<Runs>("cron.runs", { id })).entries).toMatchObject([{ jobId: id, status: "ok" }]);
  });

  test("backs off after errors and is switched off after ten, which the main session is told", async () => {
    const fail = { error: { class: "auth", message: "the key was refused" } } as never;
    const { clock, gateway, turn, runs } = await setup(Array.from({ length: 80 }, () => fail));
    const { id } = await turn("broken", { schedule: { kind: "every", everyMs: 1_000 } });
    const waits: number[] = [];
    for (let n = 1; n <= 10; n += 1) {
      const { nextRunAtMs } = await gateway.rpc<Job>("cron.get", { id });
      waits.push((nextRunAtMs ?? 0) - clock.now());
      await clock.advance((nextRunAtMs ?? 0) - clock.now());
      await eventually(async () => (await runs({ id })).total === n);
    }
    expect(waits.map((ms) => Math.round(ms / 1_000))).toEqual([1, 30, 60, 300, 900, 3_600, 3_600, 3_600, 3_600, 3_600]);
    expect(await gateway.rpc("cron.get", { id })).toMatchObject({ enabled: false, state: { consecutiveErrors: 10, lastStatus: "error" } });
    const { messages } = await gateway.rpc<{ messages: unknown[] }>("chat.history", { sessionKey: "main" });
    expect(JSON.stringify(messages)).toContain("failed 10 times in a row");
    await gateway.rpc("cron.update", { id, patch: { enabled: true } });
    expect(await gateway.rpc("cron.get", { id })).toMatchObject({ enabled: true, configRevision: 2, state: { consecutiveErrors: 0 } });
  });

  test("that was missed runs its newest slot only, five recurring ones at most, 5 s apart; one that runs once always does", async () => {
    const clock = fakeClock(start);
    const first = await setup([], { clock });
    for (let n = 1; n <= 7; n += 1) await first.turn(`r${n}`, { schedule: { kind: "every", everyMs: MINUTE, anchorMs: start + n } });
    await first.turn("once", { schedule: { kind: "at", at: new Date(start + 10 * MINUTE).toISOString() } });
    await first.gateway.close({ keepState: true });
    await clock.advance(60 * MINUTE + 30_000);

    const { gateway, prompts, runs } = await setup(
      Array.from({ length: 12 }, (_, i) => `answer ${i}`),
      { clock, stateDir: first.gateway.stateDir },
    );
    await eventually(() => prompts().length === 1);
    await clock.advance(4_999);
    expect(prompts()).toHaveLength(1);
    await clock.advance(1);
    await eventually(() => prompts().length === 2);
    for (let n = 3; n <= 6; n += 1) {
      await clock.advance(4_900);
      await clock.advance(100);
      await eventually(() => prompts().length === n);
    }
    expect(prompts().toSorted()).toEqual(["do once", "do r1", "do r2", "do r3", "do r4", "do r5"]);
    const { entries } = await runs({ limit: 200 });
    const misses = entries.filter(({ status }) => status === "skipped").map(({ error }) => String(error));
    expect(misses).toHaveLength(8);
    expect(misses.filter((error) => error.startsWith("missed 61 of its times"))).toHaveLength(7);
    const { jobs } = await gateway.rpc<{ jobs: Job[] }>("cron.list", {});
    for (const { nextRunAtMs = 0 } of jobs) expect(nextRunAtMs).toBeGreaterThan(clock.now());
  });
});

describe("a change of a job", () => {
  test("is refused with what was expected", async () => {
    const { gateway, turn } = await setup([]);
    const event = { payload: { kind: "systemEvent", text: "x" } };
    const refusals: Array<[object, RegExp]> = [
      [{ schedule: { kind: "cron", expr: "0 0 31 2 *" } }, /never comes/],
      [{ schedule: { kind: "cron", expr: "@reboot" } }, /@reboot.*five fields/],
      [{ schedule: { kind: "cron", expr: "* * * * * *" } }, /five fields/],
      [{ schedule: { kind: "cron", expr: "0 8 * * *", tz: "Mars/Base" } }, /unknown time zone "Mars\/Base"/],
      [{ schedule: { kind: "at", at: "2025-12-31T23:00:00Z" } }, /is past; it is 2026-01-01T00:00:00.000Z now/],
      [{ schedule: { kind: "at", at: "2026-12-31T23:00:00" } }, /time with its zone/],
      [event, /takes a payload of kind "agentTurn"/],
      [{ sessionTarget: "main" }, /takes a payload of kind "systemEvent"/],
      [{ sessionTarget: "main", ...event, delivery: { mode: "announce" } }, /delivery is for sessionTarget "isolated"/],
      [{ delivery: { mode: "none", to: "bo" } }, /takes no channel/],
      [{ agentId: "nobody" }, /nobody/],
      [{ payload: { kind: "agentTurn", message: "x", model: "no/such" } }, /no\/such/],
    ];
    for (const [more, message] of refusals)
      await expect(turn("x", more)).rejects.toMatchObject({ code: "INVALID_REQUEST", message: expect.stringMatching(message) });
    expect(await gateway.rpc("cron.list", { includeDisabled: true })).toMatchObject({ total: 0 });
    for (const method of ["cron.get", "cron.remove", "cron.run"])
      await expect(gateway.rpc(method, { id: "gone" })).rejects.toMatchObject({ details: { code: "CRON_JOB_NOT_FOUND", jobId: "gone" } });
  });

  test("keeps what it does not name, and lists come in pages whose revision is that of the set", async () => {
    const { gateway, turn } = await setup([]);
    const a = await turn("a", { delivery: { mode: "announce" } });
    await turn("b", { enabled: false });
    await turn("c");
    const list = (params: object) => gateway.rpc<Record<string, unknown> & { jobs: Job[] }>("cron.list", { ...params });
    const page = await list({ includeDisabled: true, limit: 2, sortBy: "name" });
    expect(page).toMatchObject({ total: 3, offset: 0, limit: 2, hasMore: true, nextOffset: 2 });
    expect(await list({})).toMatchObject({ total: 2, limit: 50, hasMore: false, nextOffset: null });
    expect(await list({ query: "DO C" })).toMatchObject({ total: 1, jobs: [{ name: "c" }] });

    const changed = await gateway.rpc<Job>("cron.update", { id: a.id, patch: { name: "z", delivery: null } });
    expect(changed).toMatchObject({ name: "z", configRevision: 2, nextRunAtMs: a.nextRunAtMs });
    expect(changed).not.toHaveProperty("delivery");
    expect((await list({ includeDisabled: true, limit: 2, sortBy: "name" })).snapshotRevision).not.toBe(page.snapshotRevision);
    expect(await gateway.rpc("cron.remove", { id: a.id })).toEqual({ ok: true, removed: true });
  });
});

describe("a run by hand", () => {
  test("does not use up a slot, and due runs nothing before the time", async () => {
    const { clock, gateway, turn, ended, prompts } = await setup(["by hand", "by time"]);
    const { id, nextRunAtMs } = await turn("x");
    expect(await gateway.rpc("cron.run", { id, mode: "due" })).toEqual({ ok: true, ran: false, reason: "not-due" });
    expect(await gateway.rpc("cron.run", { id })).toEqual({ ok: true, enqueued: true, runId: `${id}-f${start}` });
    await clock.advance(0);
    await ended(1);
    expect(await gateway.rpc("cron.get", { id })).toMatchObject({ nextRunAtMs, state: { lastStatus: "ok" } });
    await clock.advance(MINUTE);
    await ended(2);
    expect(prompts()).toHaveLength(2);
  });
});

describe("the config", () => {
  test("switches jobs off and on, says how many run together, and how much of the log stays", async () => {
    const { clock, gateway, model, turn, runs, ended } = await setup(
      Array.from({ length: 9 }, (_, i) => `a${i}`),
      {
        config: { cron: { enabled: false, maxConcurrentRuns: 1, runLog: { keepLines: 3 } } },
      },
    );
    const { id } = await turn("x");
    await clock.advance(3 * MINUTE);
    expect(model.requests).toHaveLength(0);
    expect(await gateway.rpc("cron.status")).toMatchObject({ enabled: false, jobs: 1, running: 0 });
    await expect(gateway.rpc("cron.run", { id })).rejects.toMatchObject({ code: "UNAVAILABLE" });

    await gateway.rpc("config.patch", {
      raw: JSON.stringify({ cron: { enabled: true } }),
      baseHash: (await gateway.rpc<{ hash: string }>("config.get")).hash,
    });
    await eventually(async () => (await gateway.rpc<{ enabled: boolean }>("cron.status")).enabled);
    await clock.advance(0);
    await ended(1);
    for (let n = 2; n <= 4; n += 1) {
      await clock.advance(MINUTE);
      await eventually(() => model.requests.length === n);
      await eventually(async () => (await gateway.rpc<{ running: number }>("cron.status")).running === 0);
    }
    expect(await runs({ id })).toMatchObject({ total: 3, entries: [{ summary: "a3" }, { summary: "a2" }, { summary: "a1" }] });
  });

  test("says how long sessions of runs stay; one that somebody has named stays longer", async () => {
    const { clock, gateway, turn, ended } = await setup(["one", "two"], {
      config: { cron: { sessionRetention: "1h" }, session: { maintenance: { mode: "enforce" } } },
    });
    await turn("x");
    for (let n = 1; n <= 2; n += 1) {
      await clock.advance(MINUTE);
      await ended(n);
    }
    const keys = async () => {
      const { sessions } = await gateway.rpc<{ sessions: Array<{ key: string }> }>("sessions.list", { limit: 10 });
      return sessions.map(({ key }) => key).filter((key) => key.includes(":cron:"));
    };
    const [kept = ""] = await keys();
    await gateway.rpc("sessions.patch", { key: kept, label: "keep me" });
    const { jobs } = await gateway.rpc<{ jobs: Job[] }>("cron.list", {});
    for (const { id } of jobs) await gateway.rpc("cron.update", { id, patch: { enabled: false } });
    expect(await keys()).toHaveLength(2);
    await clock.advance(75 * MINUTE);
    await eventually(async () => (await keys()).length === 1);
    expect(await keys()).toEqual([kept]);
  });
});
