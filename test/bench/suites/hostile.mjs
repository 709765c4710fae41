import { mkdirSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { makeHome, spawnGateway } from "../lib/gateway.mjs";
import { get } from "../lib/http.mjs";
import { percentile } from "../lib/stats.mjs";

const hookToken = "bench-only-hook-token-0000";
const headers = { authorization: `Bearer ${hookToken}` };
/** Time limit of one transform call here; the default is longer than a measurement should be. */
const LIMIT_MS = 2_000;
const PROBE_EVERY_MS = 5;
/** Each as often as its end still lets the next one begin at once. */
const COPIES = 3;

const transforms = {
  good: "export default () => null;",
  loops: "export default () => { for (;;); };",
  fills: "const kept = []; export default () => { for (;;) kept.push(new Array(1e5).fill({ a: Math.random() })); };",
  exits: "export default () => process.exit(0);",
  spawns: 'import { execSync } from "node:child_process";\nexport default () => ({ text: execSync("id").toString() });',
  prints: 'export default () => { for (;;) process.stdout.write("x".repeat(65536)); };',
  huge: 'export default () => ({ text: "x".repeat(64 * 1024 * 1024) });',
};

/** Whether the gateway answers while transforms do their worst: every probe counts, the slowest most. */
export async function run({ row }) {
  const hostile = Object.keys(transforms).filter((name) => name !== "good");
  const names = ["good", ...hostile.flatMap((name) => Array.from({ length: COPIES }, (_, i) => `${name}-${i}`))];
  const mappings = names.map((id) => ({ id, match: { path: id }, action: "wake", transform: { module: `${id}.ts` } }));
  const home = makeHome({ hooks: { enabled: true, token: hookToken, transforms: { timeoutMs: LIMIT_MS }, mappings } });
  const folder = join(home.state, "hooks/transforms");
  mkdirSync(folder, { recursive: true });
  for (const id of names) writeFileSync(join(folder, `${id}.ts`), transforms[id.replace(/-\d$/, "")]);
  const server = await spawnGateway(home);
  const agent = new Agent({ keepAlive: true });
  const call = async (id) => (await get(`${server.url}/hooks/${id}`, { headers, json: "{}" })).status;
  try {
    await server.ready();
    await untilLoaded(call);
    const quiet = await probe({ server, agent, work: pause(1_500) });
    row({ id: "", metric: "/healthz, nothing else, slowest", unit: "ms", ours: Math.max(...quiet), n: quiet.length });
    const all = [];
    for (const name of hostile) {
      const calls = Array.from({ length: COPIES }, (_, i) => call(`${name}-${i}`));
      const times = await probe({ server, agent, work: Promise.all(calls) });
      const wrong = (await Promise.all(calls)).filter((status) => status !== 500);
      if (wrong.length > 0) throw new Error(`a transform that ${name} was answered ${wrong.join(", ")}`);
      all.push(...times);
      row({ id: "", metric: `/healthz, ${COPIES} transforms: ${name}, slowest`, unit: "ms", ours: Math.max(...times), n: times.length });
    }
    row({ id: "", metric: "/healthz, all of these, p50", unit: "ms", ours: percentile(all, 0.5), n: all.length });
    row({ id: "", metric: "/healthz, all of these, p95", unit: "ms", ours: percentile(all, 0.95), n: all.length });
    const target = { target: 50, targetOf: "ours" };
    row({ id: "K-07", metric: "/healthz, all of these, slowest", unit: "ms", ours: Math.max(...all), n: all.length, ...target });
  } finally {
    agent.destroy();
    await server.stop();
    home.remove();
  }
}

/** The first call starts the process of transforms. */
async function untilLoaded(call) {
  const deadline = performance.now() + 30_000;
  while ((await call("good")) !== 204) {
    if (performance.now() > deadline) throw new Error("no transform was loaded within 30 s");
    await pause(100);
  }
}

/** Milliseconds of each `/healthz`, one after the other, until the work is done. */
async function probe({ server, agent, work }) {
  const times = [];
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) {
    const sent = performance.now();
    const { status } = await get(`${server.url}/healthz`, { agent });
    if (status !== 200) throw new Error(`/healthz: ${status}`);
    times.push(performance.now() - sent);
    await pause(PROBE_EVERY_MS);
  }
  return times;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
