/** Name that was probably meant by the words; of several equally near ones the longest. A name that stands there as typed is none. */
export function nearestName(typed: readonly string[], names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => {
      const length = name.split(" ").length;
      return { name, length, edits: distance(typed.slice(0, length).join(" "), name) };
    })
    .filter(({ edits }) => edits > 0)
    .sort((a, b) => a.edits - b.edits || b.length - a.length);
  const best = ranked[0];
  return best && best.edits <= Math.max(1, Math.floor(best.name.length / 4)) ? best.name : undefined;
}

/** Number of edits between two words; a swap of neighbours counts as one, because that is how people mistype. */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, change, swap));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
