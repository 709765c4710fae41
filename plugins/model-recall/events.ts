import { stripFrames } from "svc/sdk";

const HEAD = /^System: ?/;
/** A prompt holds up to twenty events of up to 16,000 characters; an answer names that many lines, cut to this length. */
const MAX_LINES = 40;
const MAX_LINE_CHARS = 300;

/** True for a part of a message that the gateway wrote: it is no question. */
export function isSystemText(text: string): boolean {
  return text.startsWith("System: ");
}

/** System events as a block quote; undefined when there are none. */
export function quoteEvents(texts: readonly string[]): string | undefined {
  const lines = texts
    .flatMap((text) => stripFrames(text).split("\n"))
    .map((line) => line.replace(HEAD, "").trim())
    .filter((line) => line !== "" && line !== "System:");
  if (lines.length === 0) return undefined;
  const shown = lines.slice(0, MAX_LINES).map((line) => (line.length > MAX_LINE_CHARS ? `${cut(line)}…` : line));
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more ${more === 1 ? "line" : "lines"}`] : [])].map((line) => `> ${line}`).join("\n");
}

function cut(line: string): string {
  return line.slice(0, MAX_LINE_CHARS).replace(/[\ud800-\udbff]$/, "");
}
