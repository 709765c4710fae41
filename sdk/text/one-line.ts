/** Shortens a text to at most `maxChars` UTF-16 units, with an ellipsis when something was cut. A surrogate pair is never split. */
export function cutEnd(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = Math.max(0, maxChars - 1);
  const last = text.charCodeAt(end - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHalf ? end - 1 : end)}…`;
}

/** Puts a text into one line of at most `maxChars`: each run of white space becomes one space. */
export function oneLine(text: string, maxChars: number): string {
  return cutEnd(text.replace(/\s+/g, " ").trim(), maxChars);
}
