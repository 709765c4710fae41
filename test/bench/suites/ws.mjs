import { makeHome, spawnBaselineServer, spawnGateway } from "../lib/gateway.mjs";
import { cpuMs } from "../lib/process.mjs";
import { alternate, percentile } from "../lib/stats.mjs";
import { pipeline } from "../lib/ws.mjs";
import { openMany } from "./fanout.mjs";

const inFlight = 32;

/** CPU of the control protocol per operation, against the same frames answered by a bare server. */
export async function run({ quick, row, note }) {
  const home = makeHome();
  const ours = await spawnGateway(home);
  const baseline = await spawnBaselineServer();
  try {
    await Promise.all([ours.ready(), baseline.ready()]);
    await connects({ ours, baseline, row, quick });
    for (const clients of quick ? [100] : [100, 1_000]) await crowds({ ours, baseline, row, quick, clients });
    await requests({ ours, baseline, row, note, quick });
  } finally {
    await Promise.all([ours.stop(), baseline.stop()]);
    home.remove();
  }
}

async function connects({ ours, baseline, row, quick }) {
  const count = quick ? 50 : 200;
  const measure = (server) => async () => {
    const before = cpuMs(server.pid);
    for (let i = 0; i < count; i += 1) {
      const connection = await server.connect();
      if (connection.hello.type !== "hello-ok") throw new Error("no hello-ok");
      await connection.close();
    }
    return ((cpuMs(server.pid) - before) * 1_000) / count;
  };
  await measure(ours)();
  await measure(baseline)();
  const result = await alternate(quick ? 2 : 5, measure(ours), measure(baseline));
  row({ id: "P4", metric: "connect + hello, CPU", unit: "µs", target: 2.5, ...result });
}

/** As many as stay open: what a handshake costs among others. */
async function crowds({ ours, baseline, row, quick, clients }) {
  const measure = (server) => async () => {
    const before = cpuMs(server.pid);
    const crowd = await openMany(server, clients);
    const spent = cpuMs(server.pid) - before;
    await Promise.all(crowd.map((connection) => connection.close()));
    return (spent * 1_000) / clients;
  };
  await measure(ours)();
  await measure(baseline)();
  const result = await alternate(quick ? 1 : 15, measure(ours), measure(baseline));
  row({ id: "P4", metric: `connect + hello, ${clients} connected, CPU`, unit: "µs", target: 2.5, ...result });
}

async function requests({ ours, baseline, row, note, quick }) {
  const total = quick ? 4_000 : 20_000;
  const [a, b] = await Promise.all([ours.connect(), baseline.connect()]);
  const check = (payload) => {
    if (payload.ok !== true) throw new Error(`health was not ok: ${JSON.stringify(payload).slice(0, 300)}`);
  };
  const isList = (payload) => {
    if (!Array.isArray(payload)) throw new Error(`no list: ${JSON.stringify(payload).slice(0, 300)}`);
  };
  const measure = (server, connection, asked) => async () => {
    const before = cpuMs(server.pid);
    await pipeline(connection, { ...asked, total, inFlight });
    return ((cpuMs(server.pid) - before) * 1_000) / total;
  };
  for (const asked of [
    { method: "health", check },
    { method: "system-presence", check: isList },
  ]) {
    await measure(ours, a, asked)();
    await measure(baseline, b, asked)();
    const result = await alternate(quick ? 2 : 5, measure(ours, a, asked), measure(baseline, b, asked));
    row({ id: "P5", metric: `${asked.method}, ${inFlight} in flight, CPU`, unit: "µs", target: 2.5, ...result });
  }

  const latency = async (connection) => {
    const times = [];
    for (let i = 0; i < (quick ? 300 : 1_000); i += 1) {
      const started = performance.now();
      check(await connection.request("health"));
      times.push((performance.now() - started) * 1_000);
    }
    return times;
  };
  const times = { ours: await latency(a), baseline: await latency(b) };
  row({
    id: "",
    metric: "health, one at a time, p50",
    unit: "µs",
    ours: percentile(times.ours, 0.5),
    baseline: percentile(times.baseline, 0.5),
    n: times.ours.length,
  });
  note(
    `health, one at a time, p99: ${percentile(times.ours, 0.99).toFixed(0)} µs, bare server ${percentile(times.baseline, 0.99).toFixed(0)} µs`,
  );
  await Promise.all([a.close(), b.close()]);
}
