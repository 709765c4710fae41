/** Quality of a ranked list for one question; all values between 0 and 1. */
export interface Quality {
  ndcg10: number;
  recall6: number;
  mrr: number;
}

/**
 * @param found for each place of the ranking, best first, the sections of the answer that the passage there shows
 * @param wanted how many sections the answer has
 */
export function judge(found: ReadonlyArray<readonly string[]>, wanted: number): Quality {
  const seen = new Set<string>();
  let gain = 0;
  let recalled = 0;
  let first = 0;
  for (const [index, sections] of found.entries()) {
    const fresh = sections.filter((section) => !seen.has(section));
    for (const section of fresh) seen.add(section);
    // A section that was already shown gains nothing.
    if (index < 10 && fresh.length > 0) gain += fresh.length / Math.log2(index + 2);
    if (index < 6) recalled = seen.size;
    if (first === 0 && fresh.length > 0) first = index + 1;
  }
  return { ndcg10: Math.min(1, gain / idealGain(wanted)), recall6: recalled / wanted, mrr: first === 0 ? 0 : 1 / first };
}

function idealGain(wanted: number): number {
  return Array.from({ length: Math.min(10, wanted) }, (_, index) => 1 / Math.log2(index + 2)).reduce((sum, value) => sum + value, 0);
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** 95 % interval of a mean by resampling the questions. */
export function bootstrapInterval(values: readonly number[], random: () => number, rounds = 10_000): { low: number; high: number } {
  const means = Array.from({ length: rounds }, () => meanOf(values.map(() => values[Math.floor(random() * values.length)] ?? 0)));
  means.sort((a, b) => a - b);
  return { low: means[Math.floor(rounds * 0.025)] ?? 0, high: means[Math.floor(rounds * 0.975)] ?? 0 };
}
