import type { ErrorSpec } from "svc/sdk";
/** An error that crosses the thread border as `{code, fields}` and becomes an `SvcError` there; keeps the SDK out of the worker. */
export class IndexFault extends Error {
  readonly code: string;
  readonly fields: Record<string, unknown>;
  /** Specification of an error that the main thread answered with; without one the code is of this plugin's own table. */
  readonly spec: ErrorSpec | undefined;

  constructor(code: string, fields: Record<string, unknown>, options: { cause?: unknown; spec?: ErrorSpec | undefined } = {}) {
    super(typeof fields.reason === "string" ? fields.reason : code, options);
    this.code = code;
    this.fields = fields;
    this.spec = options.spec;
  }
}

/** `code` of a system or SQLite error. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Message of anything thrown, on one line; a database library that cannot be loaded is told with its cure. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/NODE_MODULE_VERSION|better_sqlite3\.node|ERR_DLOPEN_FAILED|Could not locate the bindings file/.test(message)) {
    return "the database library has no binary for this Node version; run: npm rebuild better-sqlite3";
  }
  return message.split("\n", 1)[0] ?? "";
}
