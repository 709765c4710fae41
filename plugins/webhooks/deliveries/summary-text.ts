import { cleanExternalLine, neutralize } from "svc/sdk";

/** Longest summary or reason, in characters. */
const MAX_CHARS = 500;

/** Event of the main session: what came of a hook. */
export function summaryText(name: string, end: { text: string } | { error: string }): string {
  const label = hookLabel(name);
  if ("error" in end) return `${label} (error): ${oneLine(end.error) || "the run failed"}`;
  return `${label}: ${oneLine(end.text) || "done, nothing to report"}`;
}

/** Names come with requests and stand outside any frame here: nothing in one may look like a turn of the conversation. */
export function hookLabel(name: string): string {
  return `Hook ${cut(cleanExternalLine(name))}`;
}

/** Markers of frames are defused: a summary is told outside any frame, its words are those of an agent that read strangers' text. */
export function oneLine(text: string): string {
  return cut(
    neutralize(cut(text, MAX_CHARS * 8))
      .replace(/\s+/g, " ")
      .trim(),
  );
}

function cut(text: string, max = MAX_CHARS): string {
  if (text.length <= max) return text;
  const end = /[\ud800-\udbff]$/.test(text.slice(0, max - 1)) ? max - 2 : max - 1;
  return `${text.slice(0, end)}…`;
}
