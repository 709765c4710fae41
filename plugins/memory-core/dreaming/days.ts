const DAY_MS = 86_400_000;
const MAX_FORMATTERS = 16;
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Calendar day of a moment, `YYYY-MM-DD`. @param timeZone IANA name; unset: the machine's */
export function dayOf(ms: number, timeZone?: string): string {
  const name = timeZone ?? "";
  let formatter = formatters.get(name);
  if (!formatter) {
    if (formatters.size >= MAX_FORMATTERS) formatters.clear();
    const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
    formatter = new Intl.DateTimeFormat("sv-SE", { ...parts, ...(timeZone === undefined ? {} : { timeZone }) });
    formatters.set(name, formatter);
  }
  return formatter.format(ms);
}

/** Whole days from one calendar day to another; negative when `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** Days, with fractions, that have passed since a moment in ISO 8601; never negative. Infinity for what is no moment. */
export function daysSince(moment: string | undefined, now: number): number {
  const at = Date.parse(moment ?? "");
  return Number.isFinite(at) ? Math.max(0, (now - at) / DAY_MS) : Number.POSITIVE_INFINITY;
}

/** A calendar day as people write it: `1 April 2026`. */
export function spokenDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

/** True for the path of a daily note, relative to the workspace. */
export function isDailyNote(path: string): boolean {
  return dayOfNote(path) !== undefined;
}

/** Day of a daily note by its path; undefined for any other file. */
export function dayOfNote(path: string): string | undefined {
  const day = /^memory\/(\d{4}-\d{2}-\d{2})\.md$/.exec(path)?.[1];
  return day !== undefined && Number.isFinite(Date.parse(day)) ? day : undefined;
}
