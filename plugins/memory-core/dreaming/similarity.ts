/** Words of a text in order, in lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/** Shared part of two sets of words, 0 to 1; two empty ones are equal. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const word of small) if (large.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}

/**
 * Keeps the first of texts that are nearly the same, in the order they come in.
 * @param isComparable limits which pairs count, such as those of one file
 * @returns groups, the kept one first; at most `limit` groups
 */
export function groupSimilar<T>(
  items: readonly T[],
  options: { textOf(item: T): string; threshold: number; limit: number; isComparable?(a: T, b: T): boolean },
): T[][] {
  const { textOf, threshold, limit, isComparable = () => true } = options;
  const kept: Array<{ words: Set<string>; group: T[] }> = [];
  for (const item of items) {
    const words = new Set(wordsOf(textOf(item)));
    const same = kept.find(({ words: other, group }) => isComparable(group[0] as T, item) && isNear(words, other, threshold));
    if (same) same.group.push(item);
    else if (kept.length < limit) kept.push({ words, group: [item] });
  }
  return kept.map(({ group }) => group);
}

/** Sets whose sizes differ too much need not be compared. */
function isNear(a: ReadonlySet<string>, b: ReadonlySet<string>, threshold: number): boolean {
  if (Math.min(a.size, b.size) < threshold * Math.max(a.size, b.size)) return false;
  return jaccard(a, b) >= threshold;
}
