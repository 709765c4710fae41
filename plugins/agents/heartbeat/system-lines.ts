import { cutFramed } from "svc/sdk";

/** Events that enter one prompt; the rest waits for the next. */
export const EVENTS_PER_PROMPT = 20;
/** Longest text of one event in a prompt. */
const MAX_EVENT_CHARS = 16_000;
/** `kind` of the transcript row that holds them. */
export const SYSTEM_EVENTS_KIND = "system-event";

/** Whatever a reader may take for the end of a line. */
const lineEnds = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/** Events as the agent reads them: every line says that no person wrote it. */
export function toSystemLines(events: ReadonlyArray<{ text: string }>): string {
  return events
    .flatMap(({ text }) => cutFramed(text.trim(), MAX_EVENT_CHARS).split(lineEnds))
    .map((line) => `System: ${line}`.trimEnd())
    .join("\n");
}
