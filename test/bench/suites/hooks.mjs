import { driveCommits } from "../lib/drive-commits.mjs";
import { makeHome, spawnBaselineServer, spawnGateway } from "../lib/gateway.mjs";
import { get, loadHttp } from "../lib/http.mjs";
import { cpuMs } from "../lib/process.mjs";
import { alternate, median, percentile } from "../lib/stats.mjs";

const hookToken = "bench-only-hook-token-0000";
const headers = { authorization: `Bearer ${hookToken}` };
/** Always the same text: every request is a row of its own, the event behind it waits once. */
const wake = JSON.stringify({ text: `The kettle boils. ${"x".repeat(200)}`, mode: "next-heartbeat" });

/** Measures the time to the answer, which says that the event is on the disk, and to the start of the agent's work. */
export async function run({ quick, row }) {
  const home = makeHome({ hooks: { enabled: true, token: hookToken } });
  const ours = await spawnGateway(home);
  const baseline = await spawnBaselineServer();
  try {
    await Promise.all([ours.ready(), baseline.ready()]);
    await untilOpen(ours);
    for (const callers of [1, 64, 256]) await wakes({ ours, baseline, callers, quick, row });
    await runs({ ours, quick, row });
  } finally {
    await Promise.all([ours.stop(), baseline.stop()]);
    home.remove();
  }
}

async function untilOpen(server) {
  const { status, body } = await get(`${server.url}/hooks/wake`, { headers, json: wake });
  if (status !== 200) throw new Error(`/hooks/wake: ${status} ${body}`);
}

async function wakes({ ours, baseline, callers, quick, row }) {
  const total = callers === 1 ? (quick ? 300 : 1_500) : quick ? 3_000 : 12_000;
  const expected = '{"ok":true,"mode":"next-heartbeat","eventOutcome":"coalesced"}';
  const p99 = [];
  const cpu = { ours: [], baseline: [] };
  const post = (server) => loadHttp(`${server.url}/hooks/wake`, { total, inFlight: callers, headers, json: wake, expected });
  const measure = async (server, spent) => {
    const before = cpuMs(server.pid);
    const result = await post(server);
    spent.push(((cpuMs(server.pid) - before) * 1_000) / total);
    return result;
  };
  const measureOurs = async () => {
    const { times, perSecond } = await measure(ours, cpu.ours);
    p99.push(percentile(times, 0.99));
    return perSecond;
  };
  const measureBaseline = async () => (await measure(baseline, cpu.baseline)).perSecond;
  await post(ours);
  await post(baseline);
  const rates = await alternate(quick ? 1 : 5, measureOurs, measureBaseline);
  const many = `${callers} ${callers === 1 ? "caller" : "callers"}`;
  row({ id: callers === 64 ? "P10" : "", metric: `/hooks/wake, ${many}`, unit: "/s", better: "higher", target: 0.4, ...rates });
  if (callers === 64) {
    row({ id: "P10", metric: `/hooks/wake, ${many}, p99`, unit: "ms", ours: median(p99), target: 10, targetOf: "ours", n: p99.length });
    row({ id: "", metric: `/hooks/wake, ${many}, CPU`, unit: "µs", ours: median(cpu.ours), baseline: median(cpu.baseline), n: p99.length });
  }
  const bare = (await driveCommits("baselines/commits.mjs", callers, total)).perSecond;
  row({
    id: "",
    metric: `/hooks/wake to bare commits, ${many}`,
    unit: "/s",
    better: "higher",
    ours: rates.ours,
    baseline: bare,
    n: rates.n,
  });
}

/** One after the other: from the 200 until the run starts, and until `waitForCompletion` has its answer. */
async function runs({ ours, quick, row }) {
  const connection = await ours.connect();
  const startedAt = new Map();
  connection.socket.on("message", (data) => {
    const frame = JSON.parse(data);
    if (frame.event !== "agent" || frame.payload.stream !== "lifecycle" || frame.payload.data.phase !== "start") return;
    startedAt.set(frame.payload.runId, performance.now());
  });
  const toStart = [];
  const toEnd = [];
  const count = quick ? 20 : 100;
  for (let i = -5; i < count; i += 1) {
    const accepted = await postAgent(ours, { i });
    const acceptedAt = performance.now();
    await until(() => startedAt.has(accepted.runId), "the run of a hook did not start");
    const began = startedAt.get(accepted.runId) - acceptedAt;
    const sent = performance.now();
    const { completion } = await postAgent(ours, { i, waitForCompletion: true });
    if (completion.status !== "ok") throw new Error(`a hook's run ended with ${JSON.stringify(completion)}`);
    if (i < 0) continue;
    toStart.push(Math.max(0, began));
    toEnd.push(performance.now() - sent);
  }
  await connection.close();
  row({ id: "", metric: "/hooks/agent, accepted → run starts, p50", unit: "ms", ours: median(toStart), n: count });
  row({ id: "", metric: "/hooks/agent, accepted → run starts, p99", unit: "ms", ours: percentile(toStart, 0.99), n: count });
  row({ id: "", metric: "/hooks/agent, sent → answered with its end, p50", unit: "ms", ours: median(toEnd), n: count });
}

async function postAgent(server, { i, ...fields }) {
  const message = `What is new? This is question ${i} of the bench.`;
  const json = JSON.stringify({ message, deliver: false, wakeMode: "next-heartbeat", ...fields });
  const { status, body } = await get(`${server.url}/hooks/agent`, { headers, json });
  if (status !== 200) throw new Error(`/hooks/agent: ${status} ${body}`);
  return JSON.parse(body);
}

async function until(holds, what) {
  const deadline = performance.now() + 30_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${what} within 30 s`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
