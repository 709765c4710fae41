import type { ModelCost, Usage } from "svc/sdk";

const PER = 1_000_000;
/** A session counts billionths of a dollar, so that sums of many small prices stay exact. */
const NANOS = 1_000_000_000;

/**
 * Cost of a turn in US dollars; undefined when the price of tokens it used is not known. Reasoning is part of the output; tokens of the vendor's cache
 * cost what other tokens of the prompt do, unless they have a price of their own. Pure.
 */
export function costOf({ input, output, cacheRead, cacheWrite }: Usage, price: ModelCost | undefined): number | undefined {
  if (!price) return undefined;
  const counts: ReadonlyArray<readonly [tokens: number, price: number | undefined]> = [
    [input, price.input],
    [output, price.output],
    [cacheRead, price.cacheRead ?? price.input],
    [cacheWrite, price.cacheWrite ?? price.input],
  ];
  let dollars = 0;
  for (const [tokens, each] of counts) {
    if (tokens === 0) continue;
    if (each === undefined) return undefined;
    dollars += (tokens * each) / PER;
  }
  return dollars;
}

/** Usage with its cost, where the prices of its model are known. */
export function withCost(usage: Usage, price: ModelCost | undefined): Usage {
  const cost = costOf(usage, price);
  return cost === undefined ? usage : { ...usage, cost };
}

/** Whole billionths of a dollar. */
export function toNanos(dollars: number): number {
  return Math.round(dollars * NANOS);
}

export function fromNanos(nanos: number): number {
  return nanos / NANOS;
}

/** An amount as people read it: cents and their fractions where there is no more. */
export function formatDollars(dollars: number): string {
  return `$${dollars.toFixed(dollars >= 1 ? 2 : 4)}`;
}
