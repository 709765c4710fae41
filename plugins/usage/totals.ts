/** Sums of runs. Cost in billionths of a US dollar, so that sums of small prices stay exact. */
export interface Totals {
  runs: number;
  /** Runs that were asked again of another model; none of `runs`. */
  replays: number;
  errors: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  costNanos: number;
  /** Runs that used tokens whose price is not known: the cost is at least what is shown. */
  unpriced: number;
}

export const nothing: Readonly<Totals> = {
  runs: 0,
  replays: 0,
  errors: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  costNanos: 0,
  unpriced: 0,
};

const NANOS = 1_000_000_000;
const counts = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** A run as its hook tells it; what is missing or no count is zero. */
export function totalsOf(usage: unknown, status: "ok" | "error", isReplay = false): Totals {
  const given = (typeof usage === "object" && usage !== null ? usage : {}) as Record<string, unknown>;
  const count = (name: string) => {
    const value = given[name];
    return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
  };
  const cost = typeof given.cost === "number" && Number.isFinite(given.cost) ? given.cost : undefined;
  const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = counts.map(count);
  const isUsed = input + output + cacheRead + cacheWrite > 0;
  return {
    runs: isReplay ? 0 : 1,
    replays: isReplay ? 1 : 0,
    errors: status === "error" ? 1 : 0,
    input,
    output,
    cacheRead,
    cacheWrite,
    costNanos: Math.round((cost ?? 0) * NANOS),
    unpriced: cost === undefined && isUsed ? 1 : 0,
  };
}

export function sum(a: Totals, b: Totals): Totals {
  const added = Object.keys(nothing).map((name) => [name, a[name as keyof Totals] + b[name as keyof Totals]]);
  return Object.fromEntries(added) as unknown as Totals;
}

/** Totals as the protocol has them: the cost in dollars, and none where no price is known. */
export function shownTotals({ costNanos, unpriced, ...rest }: Totals) {
  const isPriced = costNanos > 0 || unpriced === 0;
  return { ...rest, ...(isPriced ? { costUsd: costNanos / NANOS } : {}), unpriced };
}
