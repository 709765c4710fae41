import { join } from "node:path";
import { root } from "../lib/gateway.mjs";
import { runToEnd } from "../lib/process.mjs";
import { alternate } from "../lib/stats.mjs";

/** What a call of a hook costs its emitter, by number of handlers, each guarded by owner, limit, quarantine and shape check. */
const rows = [
  { taps: 0, target: 2 },
  { taps: 1, target: 30 },
  { taps: 10, target: 30 },
];

export async function run({ quick, row }) {
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
