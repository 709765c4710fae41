/** Refusal of a call: Discord's own words and code, and when another try makes sense. */
export class ApiError extends Error {
  readonly status: number;
  /** One of the JSON error codes; undefined where something between here and Discord has answered. */
  readonly code: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, code, retryAfterMs }: { status: number; code?: number; retryAfterMs?: number }) {
    super(`Discord says: ${message} (${code === undefined || code === 0 ? status : `${status}, ${code}`})`);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
