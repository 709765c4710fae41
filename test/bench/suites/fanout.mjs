import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome, spawnBaselineServer, spawnGateway } from "../lib/gateway.mjs";
import { cpuMs, memoryMb } from "../lib/process.mjs";
import { alternate, median } from "../lib/stats.mjs";

const BYTES = 1_700;

/** One event to many, and what a connection costs that does nothing, against the same frame sent to all by a bare server. */
export async function run({ quick, row, note }) {
  for (const clients of quick ? [100] : [100, 1_000])
    await withServers(({ ours, baseline }) => deliveries({ ours, baseline, clients, quick, row, note }));
  await idle({ rounds: quick ? 1 : 3, row });
}

async function withServers(measure) {
  const home = loudHome();
  const ours = await spawnGateway(home);
  const baseline = await spawnBaselineServer();
  try {
    await Promise.all([ours.ready(), baseline.ready()]);
    return await measure({ ours, baseline });
  } finally {
    await Promise.all([ours.stop(), baseline.stop()]);
    home.remove();
  }
}

async function deliveries({ ours, baseline, clients, quick, row, note }) {
  const events = Math.ceil((quick ? 20_000 : 60_000) / clients);
  const crowds = { ours: await openMany(ours, clients), baseline: await openMany(baseline, clients) };
  const latencies = { ours: [], baseline: [] };
  const measure = (server, name) => async () => {
    const crowd = crowds[name];
    for (const connection of crowd) connection.events = 0;
    const before = cpuMs(server.pid);
    await crowd[0].request("loud.say", { events, bytes: BYTES });
    await untilAll(crowd, (connection) => connection.events >= events);
    const spent = cpuMs(server.pid) - before;
    const missed = crowd.filter((connection) => connection.events !== events || connection.gaps > 0).length;
    if (missed > 0) throw new Error(`${name}: ${missed} of ${clients} clients did not get each of ${events} events once`);
    return (spent * 1_000) / (events * clients);
  };
  await measure(ours, "ours")();
  await measure(baseline, "baseline")();
  const result = await alternate(quick ? 2 : 5, measure(ours, "ours"), measure(baseline, "baseline"));
  row({ id: "P6", metric: `one event to ${clients}, CPU per delivery`, unit: "µs", target: 1.4, ...result });
  for (const [name, crowd] of Object.entries(crowds)) {
    for (let i = 0; i < 20; i += 1) latencies[name].push(await lastOfOne(crowd));
    await Promise.all(crowd.map((connection) => connection.close()));
  }
  note(
    `one event to the last of ${clients}, p50: ${median(latencies.ours).toFixed(1)} ms, bare server ${median(latencies.baseline).toFixed(1)} ms`,
  );
}

/** Milliseconds from the request for one event until everybody has it. */
async function lastOfOne(crowd) {
  for (const connection of crowd) connection.events = 0;
  const started = performance.now();
  await crowd[0].request("loud.say", { events: 1, bytes: BYTES });
  await untilAll(crowd, (connection) => connection.events >= 1);
  return performance.now() - started;
}

/** Fresh processes each round, as memory once taken is not given back. */
async function idle({ rounds, row }) {
  const count = 1_000;
  const seen = { pss: { ours: [], baseline: [] }, used: { ours: [], baseline: [] } };
  const measure = async (server, name) => {
    const [first] = await openMany(server, 1);
    await warmUp(server);
    const look = async () => ({ used: (await first.request("loud.gc")).usedBytes, pss: memoryMb(server.pid).pss * 1_024 * 1_024 });
    const before = await look();
    const crowd = await openMany(server, count);
    const after = await look();
    for (const kind of ["pss", "used"]) seen[kind][name].push((after[kind] - before[kind]) / 1_024 / count);
    await Promise.all([first, ...crowd].map((connection) => connection.close()));
  };
  for (let i = 0; i < rounds; i += 1) {
    await withServers(async ({ ours, baseline }) => {
      await measure(ours, "ours");
      await measure(baseline, "baseline");
    });
  }
  const figures = ({ ours, baseline }) => ({ ours: median(ours), baseline: median(baseline), unit: "KB", target: 2, n: rounds });
  row({ id: "P7", metric: `${count} idle connections, PSS each`, ...figures(seen.pss) });
  row({ id: "P7", metric: `${count} idle connections, heap each`, ...figures(seen.used) });
}

async function warmUp(server) {
  for (const connection of await openMany(server, 50)) await connection.close();
}

/** Opens connections, a few at a time, that count their events and look at the numbers. */
export async function openMany(server, count, concurrency = 16) {
  const opened = [];
  let started = 0;
  const lane = async () => {
    while (started < count) {
      started += 1;
      const connection = await server.connect();
      opened.push(watch(connection));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return opened;
}

function watch(connection) {
  Object.assign(connection, { events: 0, gaps: 0, seq: undefined });
  connection.socket.on("message", (data) => {
    const text = data.toString("latin1");
    if (!text.startsWith('{"type":"event"')) return;
    const seq = Number(text.slice(text.lastIndexOf('"seq":') + 6, -1));
    if (connection.seq !== undefined && seq !== connection.seq + 1) connection.gaps += 1;
    connection.seq = seq;
    if (text.includes("loud.said")) connection.events += 1;
  });
  return connection;
}

async function untilAll(list, isDone) {
  const deadline = performance.now() + 60_000;
  while (!list.every(isDone) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 1));
}

function loudHome() {
  const home = makeHome({ plugins: { load: { paths: ["./loud.ts"] } } });
  writeFileSync(join(home.state, "loud.ts"), loud);
  return home;
}

const loud = `
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { definePlugin, z } from "svc/sdk";
setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
export default definePlugin({ id: "loud", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  const params = z.strictObject({ events: z.number().optional(), bytes: z.number().optional() });
  ctx.registerRpc({ method: "loud.say", scope: "read", params, handler: async ({ events = 1, bytes = 1 }) => {
    const text = "x".repeat(bytes);
    for (let i = 0; i < events; i++) {
      ctx.emit("said", { i, text }, { scope: "read" });
      await new Promise((resolve) => setImmediate(resolve));
    }
    return {};
  } });
  ctx.registerRpc({ method: "loud.gc", scope: "read", params, handler: () => {
    gc(); gc();
    const { heapUsed, external } = process.memoryUsage();
    return { usedBytes: heapUsed + external };
  } });
} });`;
