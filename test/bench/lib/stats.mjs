/** The middle value; of an even number the mean of the two. */
export function median(values) {
  return percentile(values, 0.5);
}

/** Linear between ranks; `undefined` of nothing. */
export function percentile(values, p) {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * p;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at - Math.floor(at));
}

/** Runs ours, baseline, ours, baseline … and gives the median of each: what disturbs the machine disturbs both. */
export async function alternate(rounds, ours, baseline) {
  const seen = { ours: [], baseline: [] };
  for (let i = 0; i < rounds; i += 1) {
    seen.ours.push(await ours());
    seen.baseline.push(await baseline());
  }
  return { ours: median(seen.ours), baseline: median(seen.baseline), n: rounds };
}

/** Numbers from a fixed seed (mulberry32), so that each run measures the same corpus. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
