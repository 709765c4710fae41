import { driveCommits } from "../lib/drive-commits.mjs";
import { alternate, median } from "../lib/stats.mjs";

/** Messages a second that are on the disk before their caller hears of it, by number of callers at once. */
export async function run({ quick, row }) {
  for (const callers of [1, 64, 256]) {
    const total = callers === 1 ? (quick ? 200 : 600) : quick ? 4_000 : 20_000;
    const p99 = [];
    const ours = async () => {
      const result = await driveCommits("drivers/store-commits.mjs", callers, total);
      p99.push(result.p99);
      return result.perSecond;
    };
    const baseline = async () => (await driveCommits("baselines/commits.mjs", callers, total)).perSecond;
    const rates = await alternate(quick ? 1 : 3, ours, baseline);
    row({ id: "", metric: `durable messages, ${callers} callers`, unit: "/s", better: "higher", target: 0.4, ...rates });
    if (callers === 64) {
      row({
        id: "",
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
