/** Failure on either side of the thread border, as plain data: the worker loads no SDK, the main thread converts it to an `SvcError`. */
export class Refusal extends Error {
  readonly code: string;
  readonly fields: Record<string, unknown>;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, fields: Record<string, unknown>, retryAfterMs?: number) {
    super(code);
    this.name = "Refusal";
    this.code = code;
    this.fields = fields;
    this.retryAfterMs = retryAfterMs;
  }

  toPlain(): PlainRefusal {
    const { code, fields, retryAfterMs } = this;
    return { code, fields, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
}

export interface PlainRefusal {
  code: string;
  fields: Record<string, unknown>;
  /** When it may be different. */
  retryAfterMs?: number;
}
