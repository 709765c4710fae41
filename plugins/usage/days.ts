/** Local days of a time zone, as `2026-11-28`. */
export interface Days {
  /** Day of a time. */
  of(now: number): string;
  /** So many days up to that of a time, the newest first; `after` leaves out the newest ones. Days are counted by the calendar: one has 23 to 25 hours. */
  upTo(now: number, count: number, after?: number): string[];
}

/** @param timeZone default: that of the machine */
export function createDays(timeZone?: string): Days {
  const format = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit", timeZone });
  const of = (now: number) => format.format(now);
  return {
    of,
    upTo(now, count, after = 0) {
      const [year = 0, month = 1, day = 1] = of(now).split("-").map(Number);
      return Array.from({ length: count }, (_, i) => new Date(Date.UTC(year, month - 1, day - after - i)).toISOString().slice(0, 10));
    },
  };
}
