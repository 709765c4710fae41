/** Paths of the notes of yesterday and of today, by the machine's time zone, which is the one the prompt names. */
export function dailyNotes(now: number): string[] {
  const today = new Date(now);
  // By the calendar, not by 24 hours: days with a change of clock are longer or shorter.
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  return [yesterday, today].map((day) => `memory/${isoDay(day)}.md`);
}

function isoDay(day: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${String(day.getFullYear()).padStart(4, "0")}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
