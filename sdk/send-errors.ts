interface SendErrorOptions {
  /** Time the platform asks the caller to wait, in milliseconds. */
  retryAfterMs?: number;
  cause?: unknown;
}

/**
 * Thrown by `send` of a channel: nothing has left the process, so another try cannot double the message. It is tried again like any message that the
 * platform was too busy for.
 */
export class NotDispatchedError extends Error {
  readonly retryAfterMs: number | undefined;
  constructor(message: string, { retryAfterMs, cause }: SendErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "NotDispatchedError";
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Thrown by `send` of a channel: the platform answered that it has not taken the message. `isPermanent`: nor will it ever (blocked by the user, no such
 * chat, not a member, a bad recipient); otherwise it is tried again. Any other error leaves open whether the platform has it.
 */
export class SendRefusedError extends Error {
  readonly isPermanent: boolean;
  readonly retryAfterMs: number | undefined;
  constructor(message: string, { isPermanent, retryAfterMs, cause }: SendErrorOptions & { isPermanent: boolean }) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "SendRefusedError";
    this.isPermanent = isPermanent;
    this.retryAfterMs = retryAfterMs;
  }
}

/** True for a `NotDispatchedError` of any SDK copy. */
export function isNotDispatched(error: unknown): error is NotDispatchedError {
  return error instanceof Error && error.name === "NotDispatchedError";
}

/** True for a `SendRefusedError` of any SDK copy. */
export function isSendRefused(error: unknown): error is SendRefusedError {
  return error instanceof Error && error.name === "SendRefusedError";
}
