import type { JsonObject } from "svc/sdk";
import type { HooksConfig } from "../action.ts";

export type Mapping = HooksConfig["mappings"][number];

/** Input of a transform. `url` is a `URL` on its side. */
export interface TransformContext {
  payload: unknown;
  headers: Readonly<Record<string, string>>;
  url: string;
  path: string;
}

/** Result of a transform: `skip` = `null`, `keep` = `undefined`, else fields that override those of the templates, not yet checked. */
export type TransformResult = { kind: "skip" | "keep" } | { kind: "fields"; fields: JsonObject };

/**
 * A transform that was found and may be called.
 * @throws {SvcError} `transform-failed` (500, `reason` with file, line and column for the log), `transform-busy` and `transform-resting` (503, `retryAfterMs`)
 */
export type TransformCall = (context: TransformContext, options: { signal: AbortSignal }) => Promise<TransformResult>;

/** A mapping that is ready for requests: of the operator, or of a preset. */
export interface ReadyMapping {
  /** `mapping-<n>` where none was given, or the preset's. */
  id: string;
  /** Name of the preset that brought it; unset for the operator's own. */
  preset?: string;
  mapping: Mapping;
  transform?: TransformCall;
  /** Reason why it cannot serve: requests that match get 500, others go on. */
  broken?: string;
}
