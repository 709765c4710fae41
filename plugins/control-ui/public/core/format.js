const dayMs = 86_400_000;

/**
 * "just now", "4 min", "3 h", else the date. Pure.
 * @param {number | undefined} at epoch ms
 * @param {number} now epoch ms
 */
export function age(at, now) {
  if (!at) return "";
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return "just now";
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return day(at, now);
}

/**
 * A length of time in its two largest fitting words: "45 s", "12 min", "3 h", "2 d".
 * @param {number} ms
 */
export function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

// Making one for each time would take longer than anything that is done with it.
const clockFormat = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" });
const momentFormat = new Intl.DateTimeFormat([], { dateStyle: "long", timeStyle: "short" });

/** Clock time of a moment. @param {number} at */
export function clock(at) {
  return clockFormat.format(at);
}

/**
 * "Today", "Yesterday", "12 November", with the year when it is another one.
 * @param {number} at
 * @param {number} now
 */
export function day(at, now) {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / dayMs);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Date(at).toLocaleDateString([], { day: "numeric", month: "long", ...(sameYear ? {} : { year: "numeric" }) });
}

/**
 * One line of an answer without its Markdown signs, for lists.
 * @param {string | undefined} text
 */
export function plain(text) {
  return (text ?? "")
    .replace(/Source: \S+/g, "")
    .replace(/(^|\s)(?:>|#{1,6}|[-*])(?=\s|$)/g, " ")
    .replace(/\*\*|__|`/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Whole date and time, for titles. @param {number} at */
export function moment(at) {
  return momentFormat.format(at);
}

/** 1902 → "1,902". @param {number} value */
export function count(value) {
  return value.toLocaleString("en");
}

/**
 * "1 part", "2 parts".
 * @param {number} value
 * @param {string} word
 */
export function plural(value, word) {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

/** @param {number} at */
function startOfDay(at) {
  return new Date(at).setHours(0, 0, 0, 0);
}
