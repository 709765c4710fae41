import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../lib/gateway.mjs";
import { runToEnd } from "../lib/process.mjs";
import { alternate, median } from "../lib/stats.mjs";

/** Messages a second that are on the disk before their caller hears of it, by number of callers at once. */
export async function run({ quick, row }) {
  for (const callers of [1, 64, 256]) {
    const total = callers === 1 ? (quick ? 200 : 600) : quick ? 4_000 : 20_000;
    const p99 = [];
    const ours = async () => {
      const result = await drive("drivers/store-commits.mjs", callers, total);
      p99.push(result.p99);
      return result.perSecond;
    };
    const baseline = async () => (await drive("baselines/commits.mjs", callers, total)).perSecond;
    const rates = await alternate(quick ? 1 : 3, ours, baseline);
    row({ id: "", metric: `durable messages, ${callers} callers`, unit: "/s", better: "higher", target: 0.4, ...rates });
    if (callers === 64) {
      row({
        id: "P10",
        metric: "durable messages, 64 callers, p99",
        unit: "ms",
        ours: median(p99),
        target: 10,
        targetOf: "ours",
        n: p99.length,
      });
    }
  }
}

async function drive(script, callers, total) {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-queue-"));
  try {
    const { output } = await runToEnd([join(root, "test/bench", script), join(folder, "state.sqlite"), String(callers), String(total)]);
    return JSON.parse(output.trim().split("\n").at(-1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
