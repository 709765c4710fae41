import { percentile } from "./stats.mjs";

/** Runs `commit(i)` for i < total with `callers` open at once. */
export async function measureCommits(callers, total, commit) {
  let next = 0;
  const times = [];
  const caller = async () => {
    while (next < total) {
      const i = next;
      next += 1;
      const started = performance.now();
      await commit(i);
      times.push(performance.now() - started);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - started) / 1_000;
  return { perSecond: total / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
