/** Quality of a ranked list for one question; all values between 0 and 1. */
export interface Quality {
  ndcg10: number;
  mrr10: number;
  recall10: number;
}

export const measures = ["ndcg10", "mrr10", "recall10"] as const;

/**
 * @param found for each place of the ranking, best first, the answers that the passage there shows
 * @param wanted how many answers the question has
 */
export function judge(found: ReadonlyArray<readonly string[]>, wanted: number): Quality {
  const seen = new Set<string>();
  let gain = 0;
  let first = 0;
  for (const [index, answers] of found.slice(0, 10).entries()) {
    // An answer that was already shown gains nothing.
    const fresh = answers.filter((answer) => !seen.has(answer));
    for (const answer of fresh) seen.add(answer);
    gain += fresh.length / Math.log2(index + 2);
    if (first === 0 && fresh.length > 0) first = index + 1;
  }
  const ideal = Array.from({ length: Math.min(10, wanted) }, (_, index) => 1 / Math.log2(index + 2)).reduce((a, b) => a + b, 0);
  return { ndcg10: Math.min(1, gain / ideal), mrr10: first === 0 ? 0 : 1 / first, recall10: seen.size / wanted };
}

export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A mean with its 95 % interval. */
export interface Estimate {
  mean: number;
  low: number;
  high: number;
}

/**
 * Mean over groups of values, each group weighing the same, with a 95 % interval: the values are resampled within their groups. One group is a plain mean; for
 * two engines give the differences question by question.
 */
export function estimate(groups: ReadonlyArray<readonly number[]>, random: () => number, rounds = 5_000): Estimate {
  const filled = groups.filter((group) => group.length > 0);
  const means = Array.from({ length: rounds }, () =>
    meanOf(filled.map((group) => meanOf(group.map(() => group[Math.floor(random() * group.length)] ?? 0)))),
  );
  means.sort((a, b) => a - b);
  const at = (share: number) => means[Math.min(rounds - 1, Math.floor(rounds * share))] ?? 0;
  return { mean: meanOf(filled.map(meanOf)), low: at(0.025), high: at(0.975) };
}
