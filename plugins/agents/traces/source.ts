import type { PromptMessage } from "../runs/replay-to-model.ts";
import type { ComposedMessage } from "./stored-trace.ts";

/** Where a message of a prompt comes from, so that a trace need not hold its text. */
export type MessageSource = Pick<ComposedMessage, "rows" | "notes" | "run"> & { isGiven?: true };

const sources = new WeakMap<PromptMessage, MessageSource & { rows?: number[] }>();

/** Remembers that a message was made from a row of the transcript, or with the number 0 from one that its caller sent and that is not stored. */
export function madeFromRow(message: PromptMessage, seq: number | undefined): PromptMessage {
  if (seq !== undefined) sources.set(message, seq > 0 ? { rows: [seq] } : { isGiven: true });
  return message;
}

/** Remembers that a row was added to a message; with one that is not stored it is a message that no rows have. */
export function addRow(message: PromptMessage, seq: number): void {
  const source = sources.get(message);
  // In place: one message may have thousands of rows.
  if (source?.rows && seq > 0) source.rows.push(seq);
  else sources.delete(message);
}

/** Remembers that a message is that of a run which joined the turn. */
export function madeFromRun(message: PromptMessage, run: string): PromptMessage {
  sources.set(message, { run });
  return message;
}

/** Remembers a text that was put in front of a message: a note, or the row of a compaction whose summary it is. */
export function noteInFront(message: PromptMessage, note: number | string): void {
  const before = sources.get(message);
  if (before && !before.isGiven) sources.set(message, { ...before, notes: [note, ...(before.notes ?? [])] });
}

/** A message that is the summary of a compaction and nothing else. */
export function madeFromSummary(message: PromptMessage, seq: number): PromptMessage {
  sources.set(message, { notes: [seq] });
  return message;
}

/** Undefined for a message that no row has. */
export function sourceOf(message: PromptMessage): MessageSource | undefined {
  return sources.get(message);
}
