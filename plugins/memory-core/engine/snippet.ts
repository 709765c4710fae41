/** `text` cut to `maxChars` UTF-16 units, never inside a surrogate pair. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars);
}

/**
 * The part of a chunk that is shown: its beginning, unless a later stretch of whole lines holds more of the searched terms.
 * @param terms in lower case
 */
export function snippetOf(text: string, terms: readonly string[], maxChars: number): string {
  if (text.length <= maxChars) return text;
  const lower = text.toLowerCase();
  // Lower-casing can change lengths in rare scripts; then offsets would lie, so the beginning is shown.
  const spots = lower.length === text.length ? findTerms(lower, terms) : [];
  let best = { start: 0, found: countTerms(spots, 0, maxChars) };
  for (let start = text.indexOf("\n") + 1; start > 0; start = text.indexOf("\n", start) + 1) {
    const found = countTerms(spots, start, start + maxChars);
    if (found > best.found) best = { start, found };
    if (start + maxChars >= text.length) break;
  }
  return cutText(text.slice(best.start === 0 ? 0 : settle(text, spots, { start: best.start, maxChars })), maxChars);
}

/** Start of the line before the one that starts at `at`. */
function lineBefore(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 2) + 1;
}

/** Moves a window on to the line before its first term, as long as that shows text instead of the end of the chunk. */
function settle(text: string, spots: readonly Spot[], { start, maxChars }: { start: number; maxChars: number }): number {
  const first = Math.min(...spots.filter((spot) => spot.start >= start).map((spot) => spot.start));
  let at = Math.max(start, lineBefore(text, text.lastIndexOf("\n", first) + 1));
  for (;;) {
    const earlier = lineBefore(text, at);
    if (earlier < start || earlier >= at || text.length - earlier > maxChars) return at;
    at = earlier;
  }
}

// Hostile text must not make this slow: few terms, few places of each.
const MAX_TERMS = 40;
const MAX_SPOTS = 8;

interface Spot {
  term: number;
  start: number;
  end: number;
}

function findTerms(lower: string, terms: readonly string[]): Spot[] {
  const spots: Spot[] = [];
  for (const [term, text] of terms.slice(0, MAX_TERMS).entries()) {
    let at = lower.indexOf(text);
    for (let count = 0; at >= 0 && count < MAX_SPOTS; count++) {
      spots.push({ term, start: at, end: at + text.length });
      at = lower.indexOf(text, at + text.length);
    }
  }
  return spots;
}

/** Counts the different terms that lie wholly in a stretch. */
function countTerms(spots: readonly Spot[], from: number, to: number): number {
  return new Set(spots.filter((spot) => spot.start >= from && spot.end <= to).map((spot) => spot.term)).size;
}
