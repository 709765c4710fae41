/** Share of a text that may differ before a candidate is no suggestion any more. */
const MAX_DIFFERENCE = 0.75;

/** The candidate with the fewest edits from `text`, ignoring case; undefined when none is like it. */
export function closest(text: string, candidates: readonly string[]): string | undefined {
  let best: { id: string; distance: number } | undefined;
  for (const id of candidates) {
    const bare = id.slice(id.indexOf("/") + 1);
    const distance = Math.min(editDistance(text.toLowerCase(), id.toLowerCase()), editDistance(text.toLowerCase(), bare.toLowerCase()));
    if (distance > MAX_DIFFERENCE * Math.max(text.length, bare.length)) continue;
    if (!best || distance < best.distance) best = { id, distance };
  }
  return best?.id;
}

/** Levenshtein distance, two rows. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, change));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
