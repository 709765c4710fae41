import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import type { FakeOpenAi } from "../fakes/openai-server.ts";
import { gatewayIn, stopAll } from "./_cli.ts";
import { brokenFiles, hooksHome, markCounts, postHook, readState, startModel } from "./_hooks.ts";
import type { Home, Running } from "./_process.ts";
import { runSeed, seeded } from "./_storm.ts";

/** `SVC_TEST_LONG=1`: all of the fifty. */
const isLong = process.env.SVC_TEST_LONG === "1";
const ROUNDS = isLong ? 50 : 2;
const SENDERS = 4;
/** New actions of each sender; as many as a process can carry out before it is killed. */
const PER_ROUND = 4;
const LONGEST_LIFE_MS = 3_000;
/** Hook runs at a time: so many can be cut off by one kill. */
const CONCURRENCY = 2;

let model: FakeOpenAi;
afterEach(async () => {
  await stopAll();
  await model?.close();
});

/** One sender: its messages one after the other, each until it is answered with 200. */
interface Sender {
  id: number;
  sent: number;
  /** Run id by key, of what was answered with 200. */
  acknowledged: Map<string, string>;
}

const bodyOf = (key: string, id: number) => ({
  message: `mark:${key}: what is new?`,
  name: key,
  deliver: id % 2 === 0,
  wakeMode: "next-heartbeat",
});

async function send(sender: Sender, url: string, { until, gap }: { until: number; gap?: () => Promise<void> }): Promise<void> {
  while (sender.sent < until) {
    await gap?.();
    const key = `s${sender.id}-${sender.sent}`;
    const answer = await postHook(url, { key, body: bodyOf(key, sender.id) });
    if (answer === "unknown") return;
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { ok: true, runId: expect.any(String) } });
    sender.acknowledged.set(key, String(answer.body.runId));
    sender.sent += 1;
  }
}

async function round(
  home: Home,
  senders: Sender[],
  { n, random, leases }: { n: number; random: () => number; leases: Set<string> },
): Promise<void> {
  const gateway = await gatewayIn(home);
  await expectWhole(home, leases);
  // Spread over the life of the process, so that a kill meets every stage of the work.
  const gap = () => sleep((random() * LONGEST_LIFE_MS) / PER_ROUND);
  const sending = senders.map((sender) => send(sender, gateway.url, { until: (n + 1) * PER_ROUND, gap }));
  await sleep(random() * LONGEST_LIFE_MS);
  for (const { lease } of readState(home).deliveries) if (lease) leases.add(lease);
  await gateway.kill("SIGKILL");
  await Promise.all(sending);
}

/** Asserts the invariants that hold after each start, however the process before it ended. */
async function expectWhole(home: Home, leases: ReadonlySet<string>): Promise<void> {
  expect(await brokenFiles(home)).toEqual([]);
  await eventually(() => {
    const { integrity, deliveries } = readState(home);
    expect(integrity).toBe("ok");
    expect(deliveries.filter((row) => row.lease !== null && leases.has(row.lease))).toEqual([]);
    return true;
  });
}

test(`after ${ROUNDS} kills with ${SENDERS} senders every accepted action has run, and no key has another run (seed ${runSeed})`, async () => {
  model = await startModel();
  const home = await hooksHome(model, { model: "unhurried" });
  const random = seeded(runSeed);
  const leases = new Set<string>();
  const senders = Array.from({ length: SENDERS }, (_, id): Sender => ({ id, sent: 0, acknowledged: new Map() }));
  for (let n = 0; n < ROUNDS; n++) await round(home, senders, { n, random, leases });

  const gateway = await gatewayIn(home);
  await expectWhole(home, leases);
  for (const sender of senders) await send(sender, gateway.url, { until: ROUNDS * PER_ROUND });
  await Promise.all(senders.map((sender) => replayAll(sender, gateway)));
  // One that was alone at a kill waits for up to a minute before it is tried again.
  await eventually(() => readState(home).deliveries.every((row) => ["done", "failed"].includes(row.state)), 180_000);
  expect(await gateway.kill("SIGTERM"), gateway.out.stderr.slice(-2_000)).toBe(0);

  const state = readState(home);
  const actions = state.deliveries.filter((row) => row.dir === "hook-agent");
  const asked = markCounts(model);
  const keys = senders.flatMap(({ acknowledged }) => [...acknowledged.keys()]);
  expect(actions.map((row) => row.key).toSorted()).toEqual(keys.toSorted());
  // A kill from outside is nobody's fault: none is given up.
  expect(actions.filter((row) => row.state !== "done")).toEqual([]);
  for (const { key, uid } of actions) {
    const summaries = [...state.events, ...state.notes].filter(
      (text) => text.startsWith(`Hook ${key}: `) || text.startsWith(`Hook ${key} (error): `),
    );
    expect({ key, summaries: summaries.length, isAsked: (asked.get(key ?? "") ?? 0) > 0 }).toEqual({ key, summaries: 1, isAsked: true });
    expect(state.userMessages.get(uid) ?? 0).toBeLessThanOrEqual(1);
  }
  // Delivered once: the answer of every second sender stands in the main session under the id of its message.
  const outgoing = state.deliveries.filter((row) => row.dir === "out");
  const delivered = actions.filter((row) => Number(row.key?.slice(1).split("-")[0]) % 2 === 0);
  expect(outgoing.map((row) => `${row.uid} ${row.state}`).toSorted()).toEqual(delivered.map((row) => `${row.uid}:out done`).toSorted());
  const extra = [...asked.values()].reduce((sum, times) => sum + times - 1, 0);
  expect(extra).toBeLessThanOrEqual(ROUNDS * CONCURRENCY);
  expect([...asked.keys()].filter((key) => !keys.includes(key))).toEqual([]);
  expect(state.runs.filter((run) => run.state === "running" || run.state === "queued")).toEqual([]);
}, 1_800_000);

/** A repeat after the restarts is the same action, and waits for the same end. */
async function replayAll(sender: Sender, gateway: Running): Promise<void> {
  for (const [key, runId] of sender.acknowledged) {
    const again = await postHook(gateway.url, { key, body: { ...bodyOf(key, sender.id), waitForCompletion: true } });
    if (again === "unknown") throw new Error(`the repeat of ${key} was not answered: ${gateway.out.stderr.slice(-2_000)}`);
    expect(again).toMatchObject({ status: 200, body: { ok: true, runId, completion: { status: expect.any(String) } } });
    expect(again.headers.get("idempotent-replay")).toBe("true");
  }
}
