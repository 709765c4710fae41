/** Longest marker `cutMiddle` puts in place of what it left out. */
const MARKER_ROOM = 48;
const ELLIPSIS_BYTES = 3;

/**
 * Shortens a text to at most `maxChars` UTF-16 units: the first 70 %, a marker line, the last 20 %.
 * A surrogate pair is never split.
 */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = wholeEnd(text, Math.max(0, Math.min(Math.floor(maxChars * 0.7), maxChars - MARKER_ROOM)));
  const tail = Math.max(0, Math.min(Math.floor(maxChars * 0.2), maxChars - head - MARKER_ROOM));
  const from = wholeStart(text, text.length - tail);
  const marker = `\n[… ${from - head} characters left out …]\n`;
  return `${text.slice(0, head)}${marker}${text.slice(from)}`;
}

/** At most `maxBytes` (3 or more) of UTF-8, with an ellipsis when something was cut; no character is split. */
export function cutBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const room = Math.max(0, maxBytes - ELLIPSIS_BYTES);
  const bytes = Buffer.from(text.slice(0, room + 1));
  let end = room;
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return `${bytes.toString("utf8", 0, end)}…`;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

function wholeEnd(text: string, end: number): number {
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function wholeStart(text: string, start: number): number {
  return isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
