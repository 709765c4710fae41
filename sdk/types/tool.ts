import type { JsonSchema, Schema } from "./schema.ts";

/** Origin of a run, by those who have a word in it: the operator alone, a person on a channel as well, or anybody, as in groups and through webhooks. */
export type RunOrigin = "operator" | "person" | "anybody";

/** Reason why a run may not call a tool. */
export type ToolRefusal = "unknown" | "policy" | "origin" | "narrowed" | "blocked";

/** Caller of a tool. `signal` aborts when nobody waits for the result any more. */
export interface ToolCall {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly signal: AbortSignal;
  /** People who have a word in it. A tool that begins another run for it passes this on, and `tools` as well. */
  readonly origin: RunOrigin;
  /** Tools that the run is narrowed to. */
  readonly tools?: { allow?: readonly string[]; deny?: readonly string[] };
  /** Shows a line of progress to those who watch the run; at most four in a second are passed on, the newest wins. */
  update(text: string): void;
}

/** Part of the result of a tool; `data` is base64. A model that reads no pictures gets a note in the place of one. */
export type ToolContent = { type: "text"; text: string } | { type: "image"; mimeType: string; data: string };

/** Result of a tool for the model. `details` is the machine-readable form, for events and the UI. */
export interface ToolResult {
  /** At most eight pictures, PNG, JPEG, GIF or WebP, each of at most 6 MiB; others are left out with a note. */
  content: ToolContent[];
  details?: unknown;
  isError?: boolean;
}

/** Something a model can do through a plugin. */
export interface Tool<Args = unknown> {
  /** `^[a-z][a-z0-9_]{0,63}$` */
  name: string;
  description: string;
  /** A Standard Schema that can print itself as JSON Schema (zod), or a JSON Schema. */
  input: Schema<Args> | JsonSchema;
  /** The tool changes nothing: neighbouring calls of such tools in one turn run together. Default false. */
  readOnly?: boolean;
  /** Time for one call in milliseconds, 1 to 3,600,000; the signal aborts then and the model reads that it timed out. Default 60,000. */
  timeoutMs?: number;
  /** A `ToolResult`, a string, or any JSON value (shown to the model as JSON). Throw `SvcError` for bad input. */
  run(args: Args, call: ToolCall): unknown | Promise<unknown>;
}
