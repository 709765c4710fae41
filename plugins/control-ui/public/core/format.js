import { texts } from "../texts/frame.js";

const dayMs = 86_400_000;

/**
 * "just now", "4 min", "3 h", else the date. Pure.
 * @param {number | undefined} at epoch ms
 * @param {number} now epoch ms
 */
export function age(at, now) {
  if (!at) return "";
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return texts.justNow;
  if (seconds < 3_600) return texts.minutesAgo(Math.floor(seconds / 60));
  if (seconds < 86_400) return texts.hoursAgo(Math.floor(seconds / 3_600));
  return day(at, now);
}

/**
 * A length of time in its two largest fitting words: "45 s", "12 min", "3 h", "2 d".
 * @param {number} ms
 */
export function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return texts.seconds(seconds);
  if (seconds < 3_600) return texts.minutes(Math.floor(seconds / 60));
  if (seconds < 86_400) return texts.hours(Math.floor(seconds / 3_600));
  return texts.days(Math.floor(seconds / 86_400));
}

// Making one for each time would take longer than anything that is done with it.
const secondsFormat = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const clockFormat = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" });
const momentFormat = new Intl.DateTimeFormat([], { dateStyle: "long", timeStyle: "short" });
const dayFormat = new Intl.DateTimeFormat([], { day: "numeric", month: "long" });
const dayOfYearFormat = new Intl.DateTimeFormat([], { day: "numeric", month: "long", year: "numeric" });
const countFormat = new Intl.NumberFormat([]);

/** Clock time of a moment. @param {number} at */
export function clock(at) {
  return clockFormat.format(at);
}

/** Clock time with seconds. @param {number} at */
export function clockSeconds(at) {
  return secondsFormat.format(at);
}

/** "28 Nov". @param {number} at @param {{ weekday?: "short" }} [more] */
export function shortDay(at, more) {
  return new Date(at).toLocaleDateString([], { day: "numeric", month: "short", ...more });
}

/**
 * "Today", "Yesterday", "12 November", with the year when it is another one.
 * @param {number} at
 * @param {number} now
 */
export function day(at, now) {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / dayMs);
  if (days === 0) return texts.today;
  if (days === 1) return texts.yesterday;
  const isOfThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (isOfThisYear ? dayFormat : dayOfYearFormat).format(at);
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
    .replace(/\||:?-{3,}:?/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Whole date and time, for titles. @param {number} at */
export function moment(at) {
  return momentFormat.format(at);
}

/** 1902 → "1,902". @param {number} value */
export function count(value) {
  return countFormat.format(value);
}

/** @type {Map<string, Intl.NumberFormat>} */
const numberFormats = new Map();

/** @param {number} value @param {Intl.NumberFormatOptions} options */
function formatted(value, options) {
  const name = JSON.stringify(options);
  const format = numberFormats.get(name) ?? new Intl.NumberFormat([], options);
  numberFormats.set(name, format);
  return format.format(value);
}

/** 0.7142 → "0.71". @param {number} value @param {number} most places after the point @param {number} [least] those that are there in any case */
export function decimal(value, most, least = 0) {
  return formatted(value, { maximumFractionDigits: most, minimumFractionDigits: least });
}

/** 12,345 → "12K". @param {number} value */
export function short(value) {
  return formatted(value, { notation: "compact", maximumFractionDigits: 1 });
}

/** "$1,204.50", with more digits where there is less than a cent. @param {number} usd */
export function money(usd) {
  const isSmall = usd > 0 && usd < 0.01;
  return formatted(usd, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    ...(isSmall ? { maximumFractionDigits: 4 } : {}),
  });
}

/** Language that the texts are written in; numbers and dates follow the browser instead. */
const language = globalThis.document?.documentElement.lang || "en";
const pluralRules = new Intl.PluralRules(language);
const listFormat = new Intl.ListFormat(language, { type: "unit", style: "short" });

/**
 * "1 part", "2 parts": the form of a text that a number asks for; `#` in it is the number.
 * @param {number} value
 * @param {{ other: string } & { [rule in Intl.LDMLPluralRule]?: string }} forms
 */
export function plural(value, forms) {
  return (forms[pluralRules.select(value)] ?? forms.other).replace("#", () => count(value));
}

/** "a, b, c". @param {Iterable<string>} words */
export function list(words) {
  return listFormat.format(words);
}

/** @param {number} at */
function startOfDay(at) {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** Signs of browsers in their user agents, the more particular first: each of them claims to be some of those below it. @type {Array<[RegExp, string]>} */
const browsers = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

/** @type {Array<[RegExp, string]>} */
const systems = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b/, "Mac"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** Name of a browser for the list of devices, such as `Firefox on Linux`. Pure. @param {string} userAgent */
export function browserName(userAgent) {
  const browser = browsers.find(([sign]) => sign.test(userAgent))?.[1] ?? texts.browser;
  const system = systems.find(([sign]) => sign.test(userAgent))?.[1];
  return system === undefined ? browser : texts.browserOnSystem({ browser, system });
}
