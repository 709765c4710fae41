import { mkdir } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import type { Running } from "./_process.ts";
import { backendClient, loopbackAddresses, runSeed, type Storm, startStorm, writeLoudPlugin } from "./_storm.ts";

let storm: Storm;
beforeEach(() => {
  storm = startStorm();
});
afterEach(async () => {
  await storm.stop();
  await stopAll();
});

async function loudGateway(env: Record<string, string> = {}) {
  const home = await freshHome();
  await mkdir(home.stateDir, { recursive: true });
  await configured(home, { gateway: { mode: "local", auth: { token } }, plugins: await writeLoudPlugin(home) });
  const gateway = await gatewayIn(home, [], env);
  return { gateway, url: gateway.url.replace("http", "ws") };
}

async function operator(gateway: Running) {
  const client = backendClient(gateway);
  await client.connect();
  return { client, request: <T>(method: string, params = {}) => client.request(method as never, params as never) as Promise<T> };
}

const heapOf = async (of: Awaited<ReturnType<typeof operator>>) => (await of.request<{ bytes: number }>("loud.heap")).bytes;

interface Health {
  ok: boolean;
  eventLoop: { delayP99Ms: number; delayMaxMs: number };
  memory: { rssBytes: number };
}

test("500 silent sockets from one address, and 300 from many, keep nobody out; after their time all are gone", async () => {
  const { gateway, url } = await loudGateway({ SVC_HANDSHAKE_TIMEOUT_MS: "5000" });
  await storm.open({ url, count: 500, silent: true, concurrency: 500 });
  const first = await operator(gateway);
  expect((await storm.state()).open).toBeLessThanOrEqual(32);

  await storm.open({ url, count: 300, silent: true, concurrency: 300, addresses: loopbackAddresses(100) });
  const second = await operator(gateway);
  expect((await first.request<Health>("health")).ok).toBe(true);

  await eventually(async () => (await storm.state()).open === 0, 30_000);
  const { closes } = await storm.state();
  expect(closes["1008 handshake timeout"]).toBeGreaterThan(0);
  expect(Object.keys(closes).sort()).toEqual(["1006", "1008 handshake timeout"]);
  await Promise.all([first.client.close(), second.client.close()]);
}, 60_000);

const crowd = 10_000;

test(`${crowd} clients that go at once and come back at once are all back, and what they cost is given back (seed ${runSeed})`, async () => {
  const { gateway, url } = await loudGateway();
  const watcher = await operator(gateway);
  await storm.open({ url, token, count: 50 });
  await storm.forget();
  const empty = await heapOf(watcher);
  await storm.open({ url, token, count: crowd, addresses: loopbackAddresses(200), concurrency: 128, seed: runSeed });
  const heap: number[] = [];
  let answered = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      await watcher.request("system-presence");
      answered += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  for (let round = 0; round < 3; round++) {
    await storm.storm({ spreadMs: 6_500, seed: runSeed + round });
    const state = await storm.state();
    expect(state.open).toBe(crowd);
    heap.push(await heapOf(watcher));
  }
  isOver = true;
  await asking;

  const health = await watcher.request<Health>("health");
  expect(health).toMatchObject({ ok: true, eventLoop: { delayP99Ms: expect.any(Number), delayMaxMs: expect.any(Number) } });
  expect(answered).toBeGreaterThan(10);
  expect(gateway.child.exitCode).toBeNull();
  // The first round warms up; a leak of sockets, listeners or timers would add to each further one what the crowd costs.
  expect((heap.at(-1) as number) / (heap[0] as number)).toBeLessThan(1.1);
  await storm.forget();
  await eventually(async () => (await heapOf(watcher)) < empty * 1.1, 30_000);
  await watcher.client.close();
}, 300_000);

const audience = 1_000;
const hearingCount = audience - 20;

test(`of ${audience} clients 20 stop reading: the others get every event in order, memory stays in its bounds, and the 20 are cut`, async () => {
  const { gateway, url } = await loudGateway();
  const watcher = await operator(gateway);
  await storm.open({ url, token, count: audience, addresses: loopbackAddresses(100), concurrency: 128 });
  const deaf = { from: hearingCount, to: audience };
  await storm.request({ from: hearingCount - 1, to: audience, method: "loud.listen", params: { topic: "bulk" } });
  const before = (await watcher.request<Health>("health")).memory.rssBytes;
  await storm.stopReading(deaf);

  const times = 40;
  let most = 0;
  for (let i = 0; i < times; i++) {
    await watcher.request("loud.say", { events: 12, bytes: 64_000, topic: "bulk" });
    await watcher.request("loud.say", { events: 5, bytes: 1_700 });
    most = Math.max(most, (await watcher.request<Health>("health")).memory.rssBytes);
  }

  const hearing = await eventually(async () => {
    const { clients } = await storm.state();
    const all = clients.slice(0, hearingCount);
    return all.every((c, i) => c.events >= times * (i === hearingCount - 1 ? 17 : 5)) && all;
  }, 30_000);
  expect(hearing.filter((c) => c.gaps > 0 || c.closed !== "")).toEqual([]);
  // 256 MiB of unsent bytes, what they cost beside, and a heap at work.
  expect(most - before).toBeLessThan(600 * 1024 * 1024);

  // A client that has read nothing for 30 s is cut; once it reads on, it gets the reason, or the end of its socket.
  await eventually(async () => (await watcher.request<{ clients?: number }>("loud.listeners")).clients === 1, 60_000);
  await storm.readOn(deaf);
  const cut = await eventually(async () => {
    const { clients } = await storm.state();
    const slow = clients.slice(hearingCount);
    return slow.every((c) => c.closed !== "") && slow;
  }, 30_000);
  expect(cut.filter((c) => c.closed !== "1006" && c.closed !== "1008 slow consumer")).toEqual([]);
  expect((await watcher.request<Health>("health")).ok).toBe(true);
  await watcher.client.close();
}, 150_000);
