import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import type { FakeOpenAi } from "../fakes/openai-server.ts";
import { gatewayIn, stopAll } from "./_cli.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import { hooksHome, killed, markCounts, postHook, readState, startModel } from "./_hooks.ts";
import { runSeed, seeded } from "./_storm.ts";

/** `SVC_TEST_LONG=1`: all twenty moments. */
const MOMENTS = process.env.SVC_TEST_LONG === "1" ? 20 : 2;
const SENDERS = 8;

let model: FakeOpenAi;
beforeEach(async () => {
  model = await startModel();
});
afterEach(async () => {
  await stopAll();
  await model.close();
});

const bodyOf = (key: string) => ({ message: `mark:${key}: what is new?`, name: key, deliver: false, wakeMode: "next-heartbeat" });

/** Posts until the gateway says that it stops, or is gone. @returns keys that were answered with 200 */
async function sendUntilStopped(url: string, name: string, gap: () => Promise<void>): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let n = 0; ; n++) {
    await gap();
    const key = `${name}-${n}`;
    const answer = await postHook(url, { key, body: bodyOf(key) });
    if (answer === "unknown") return acknowledged;
    if (answer.status === 503) {
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(answer.body).toEqual({ ok: false, error: "gateway_unavailable" });
      return acknowledged;
    }
    expect(answer.status).toBe(200);
    acknowledged.push(key);
  }
}

test(`stopped at ${MOMENTS} moments of its work: exit 0, accepted actions stay and are carried out after, each in one counted try (seed ${runSeed})`, async () => {
  const random = seeded(runSeed);
  const home = await hooksHome(model, { model: "unhurried", gateway: { shutdown: { drainMs: 100 } } });
  const keys: string[] = [];
  for (let moment = 0; moment < MOMENTS; moment++) {
    const gateway = await gatewayIn(home);
    const gap = () => sleep(100 + random() * 600);
    const sending = Array.from({ length: SENDERS }, (_, i) => sendUntilStopped(gateway.url, `m${moment}-${i}`, gap));
    await sleep(random() * 2_000);

    expect(await gateway.kill("SIGTERM"), gateway.out.stderr.slice(-2_000)).toBe(0);
    keys.push(...(await Promise.all(sending)).flat());
    expect(gateway.out.stderr).not.toMatch(/unhandled|uncaught/i);
    const { integrity, deliveries } = readState(home);
    expect(integrity).toBe("ok");
    expect(deliveries.filter((row) => row.state !== "accepted" && row.state !== "done")).toEqual([]);
  }

  const gateway = await gatewayIn(home);
  await eventually(() => readState(home).deliveries.every((row) => row.state === "done"), 60_000);
  expect(await gateway.kill("SIGTERM")).toBe(0);
  const { deliveries, events } = readState(home);
  expect(deliveries.map((row) => row.key)).toEqual(expect.arrayContaining(keys));
  expect(deliveries.map((row) => row.attempt)).toEqual(deliveries.map(() => 1));
  const asked = markCounts(model);
  for (const { key } of deliveries) {
    expect(asked.get(key ?? "") ?? 0).toBeGreaterThan(0);
    expect(events.filter((text) => text.startsWith(`Hook ${key}: `))).toHaveLength(1);
  }
}, 300_000);

test("a row that cannot be read is set aside alone: it fails with a note, and what was accepted after it runs", async () => {
  const home = await hooksHome(model, { hooks: { defaultSessionKey: "hook:same-lane" } });
  const failing = await buildFailing();
  const first = await gatewayIn({ ...home, program: failing }, [], failingAt("hooks.after-accept=kill"));
  await postHook(first.url, { key: "bad", body: bodyOf("bad") });
  expect(await killed(first)).toBe("SIGKILL");
  const db = new Database(join(home.stateDir, "state.sqlite"));
  db.prepare("UPDATE deliveries SET payload = ?").run(Buffer.from('{"v":1,'));
  db.close();

  const gateway = await gatewayIn(home);
  const next = await postHook(gateway.url, { key: "good", body: { ...bodyOf("good"), waitForCompletion: true } });
  expect(next).toMatchObject({ status: 200, body: { completion: { status: "ok" } } });
  const { deliveries, notes } = readState(home);
  expect(deliveries).toMatchObject([
    { key: "bad", state: "failed" },
    { key: "good", state: "done" },
  ]);
  expect(notes).toEqual(["Hook without a readable payload failed: what is stored of it cannot be read"]);
  expect([...markCounts(model).keys()]).toEqual(["good"]);
});
