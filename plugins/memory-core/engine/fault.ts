/** An error that crosses the thread border as `{code, fields}` and becomes an `SvcError` there; keeps the SDK out of the worker. */
export class IndexFault extends Error {
  readonly code: string;
  readonly fields: Record<string, unknown>;

  constructor(code: string, fields: Record<string, unknown>, options: { cause?: unknown } = {}) {
    super(`${code}: ${String(fields.reason ?? "")}`, options);
    this.code = code;
    this.fields = fields;
  }
}

/** `code` of a system or SQLite error. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
