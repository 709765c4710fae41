import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome, root, spawnGateway } from "../lib/gateway.mjs";
import { runToEnd } from "../lib/process.mjs";
import { alternate, median } from "../lib/stats.mjs";

/** Cost of a hook call to its emitter, by number of handlers, each guarded by owner, limit, quarantine and shape check. */
const rows = [
  { taps: 0, target: 2 },
  { taps: 1, target: 30 },
  { taps: 10, target: 30 },
];

export async function run(options) {
  await hookCalls(options);
  await typeScriptStart(options);
}

async function hookCalls({ quick, row }) {
  const calls = quick ? 5_000 : 20_000;
  for (const { taps, target } of rows) {
    const measure = (what) => async () => {
      const { output } = await runToEnd([join(root, "test/bench/drivers/hook-calls.mjs"), String(taps), String(calls), what]);
      return JSON.parse(output.trim().split("\n").at(-1)).microseconds;
    };
    const times = await alternate(quick ? 1 : 3, measure("bus"), measure("loop"));
    row({ id: "", metric: `one hook call, ${taps} handlers`, unit: "µs", target, ...times });
  }
}

const PLUGINS = 20;

/** Start until all is ready with plugins of 60 lines each; the first start of either kind fills the caches and is not counted. */
async function typeScriptStart({ quick, row }) {
  const homes = { ts: homeOf("ts"), js: homeOf("mjs") };
  const start = (home) => async () => {
    const server = await spawnGateway(home);
    try {
      await server.ready();
      const ms = performance.now() - server.spawnedAt;
      await checkLast(server);
      return ms;
    } finally {
      await server.stop();
    }
  };
  try {
    await start(homes.ts)();
    await start(homes.js)();
    const seen = { ts: [], js: [] };
    for (let i = 0; i < (quick ? 3 : 7); i += 1) {
      seen.ts.push(await start(homes.ts)());
      seen.js.push(await start(homes.js)());
    }
    const [ours, js] = [median(seen.ts), median(seen.js)];
    row({
      id: "P16",
      metric: `${PLUGINS} TypeScript plugins, warm, added to start`,
      unit: "ms",
      target: 100,
      targetOf: "ours",
      ours: ours - js,
    });
  } finally {
    for (const home of Object.values(homes)) home.remove();
  }
}

/** A start without the plugins would be a fast one. */
async function checkLast(server) {
  const connection = await server.connect();
  const { sum } = await connection.request(`bench${PLUGINS - 1}.add`, { a: 1 });
  await connection.close();
  if (sum !== 1 + 49 * (PLUGINS - 1)) throw new Error(`a plugin answered ${sum}`);
}

function homeOf(extension) {
  const names = Array.from({ length: PLUGINS }, (_, i) => `bench${i}.${extension}`);
  const home = makeHome({ plugins: { load: { paths: names.map((name) => `./${name}`) } } });
  for (const [i, name] of names.entries()) writeFileSync(join(home.state, name), pluginSource(i, extension === "ts"));
  return home;
}

function pluginSource(i, isTyped) {
  const number = isTyped ? ": number" : "";
  const helpers = Array.from({ length: 50 }, (_, n) => `function add${n}(a${number}, b${number})${number} { return a + b * ${n}; }`).join(
    "\n",
  );
  return `import { definePlugin, z } from "svc/sdk";
${helpers}
export default definePlugin({ id: "bench${i}", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  ctx.registerRpc({ method: "bench${i}.add", scope: "read", params: z.strictObject({ a: z.number() }), handler: ({ a }) => ({ sum: add49(a, ${i}) }) });
} });
`;
}
