import { cleanExternalLine, cutEnd, neutralize, oneLine } from "svc/sdk";

/** Longest summary or reason, in characters. */
const MAX_CHARS = 500;

/** Event of the main session: what came of a hook. */
export function summaryText(name: string, end: { text: string } | { error: string }): string {
  const label = hookLabel(name);
  if ("error" in end) return `${label} (error): ${summaryLine(end.error) || "the run failed"}`;
  return `${label}: ${summaryLine(end.text) || "done, nothing to report"}`;
}

/** Names come with requests and stand outside any frame here: nothing in one may look like a turn of the conversation. */
export function hookLabel(name: string): string {
  return `Hook ${cutEnd(cleanExternalLine(name), MAX_CHARS)}`;
}

/** Markers of frames are defused: a summary is told outside any frame, its words are those of an agent that read strangers' text. */
export function summaryLine(text: string): string {
  return oneLine(neutralize(cutEnd(text, MAX_CHARS * 8)), MAX_CHARS);
}
