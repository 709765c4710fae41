/**
 * Failure with a code of the plugin `store`, which makes the error of its table from it. A code stands in one table only, so this plugin has none for what every store
 * refuses.
 */
export class Refusal extends Error {
  readonly code: string;
  readonly fields: Record<string, unknown>;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, fields: Record<string, unknown>, { retryAfterMs, cause }: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(`${code}: ${textOf(fields)}`, cause === undefined ? undefined : { cause });
    this.name = "Refusal";
    this.code = code;
    this.fields = fields;
    this.retryAfterMs = retryAfterMs;
  }
}

function textOf({ reason, advice, what, key }: Record<string, unknown>): string {
  return String(advice ?? reason ?? what ?? key ?? "");
}

/** A refusal as the database returns it. */
export interface PlainRefusal {
  code: string;
  fields: Record<string, unknown>;
  /** When it may be different. */
  retryAfterMs?: number;
}
