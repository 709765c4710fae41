/** Calls of one hook a second: `node hook-calls.mjs <taps> <calls> <bus|loop>`; `loop`: the same functions, awaited one by one without a bus. */

import { importPart } from "../lib/part.mjs";

const [taps, calls, what] = process.argv.slice(2);
const { createHookBus } = await importPart("kernel/hooks/bus.ts");
const ignore = () => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => silent };
let seen = 0;
const handler = async (event) => {
  seen += event.ms;
};
const handlers = Array.from({ length: Number(taps) }, () => handler);
const bus = createHookBus(silent);
for (const [order, fn] of handlers.entries()) bus.tap("rpc.after", { plugin: `p${order}`, order, fn });
const emit = {
  bus: (event) => (bus.isUsed("rpc.after") ? bus.run("rpc.after", event) : undefined),
  loop: async (event) => {
    for (const fn of handlers) await fn(event);
  },
}[what];

const many = async (count) => {
  for (let i = 0; i < count; i++) await emit({ method: "health", ok: true, ms: 1 });
};
await many(2_000);
seen = 0;
const started = performance.now();
await many(Number(calls));
const ms = performance.now() - started;
if (seen !== handlers.length * Number(calls)) throw new Error(`${seen} handler calls, expected ${handlers.length * Number(calls)}`);
console.log(JSON.stringify({ microseconds: (ms * 1_000) / Number(calls) }));
