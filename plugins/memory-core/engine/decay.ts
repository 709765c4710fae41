const DAY_MS = 86_400_000;
const datedNote = /^memory\/(?:.*\/)?(\d{4})-(\d{2})-(\d{2})(?:-[^/]+)?\.md$/i;
const evergreen = /^(?:memory\.md|memory\/.*)$/i;

/** Midnight UTC of a daily note, `undefined` for every other path and for days there never were. */
export function dayOfPath(path: string): number | undefined {
  const [, year, month, day] = (datedNote.exec(path) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const time = Date.UTC(year, month - 1, day);
  // A day that a month does not have runs over into another month.
  return new Date(time).getUTCMonth() === month - 1 ? time : undefined;
}

/**
 * When a passage is from: the date in its path, nothing for notes that stay true (`MEMORY.md`, undated files below `memory/`), for anything else the time of the
 * file or of the session's last message. Undefined: it does not age.
 */
export function timeOf(path: string, modifiedAt: number | undefined): number | undefined {
  const day = dayOfPath(path);
  if (day !== undefined) return day;
  return evergreen.test(path) ? undefined : modifiedAt;
}

/** Score after decay by age; halved after each `halfLifeDays` (whole days, at least 1). What lies in the future is new. */
export function decayedScore(
  score: number,
  { at, now, halfLifeDays }: { at: number | undefined; now: number; halfLifeDays: number },
): number {
  if (at === undefined) return score;
  const ageDays = Math.max(0, now - at) / DAY_MS;
  return score * Math.exp((-Math.LN2 / Math.max(1, Math.floor(halfLifeDays))) * ageDays);
}
