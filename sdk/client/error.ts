import type { DetailsWithoutCode, ErrorDetailsByCode } from "../protocol/error-details.ts";
import type { WireError } from "../protocol/frames.ts";

/**
 * Machine-readable detail of an error, told apart by `code`: `if (details?.code === "PAIRING_REQUIRED") show(details.requestId)`. The types know the codes of
 * this release and its bundled plugins; a newer gateway or another plugin sends others, so a `switch` has a default.
 */
export type ErrorDetails =
  | { [Code in keyof ErrorDetailsByCode]: { code: Code } & ErrorDetailsByCode[Code] }[keyof ErrorDetailsByCode]
  | ({ code?: undefined } & DetailsWithoutCode & OwnDetails);

/** Details of the client's own errors. */
interface OwnDetails {
  /** Of `gateway-unreachable`: `refused`, `timeout`, `not-a-gateway` or `network`; some errors of the gateway have a reason, too. */
  reason?: string;
  /** Of `connection-closed`: code of the close frame. */
  closeCode?: number;
}

/** Fields of `ClientError` besides its message. */
export interface ClientErrorFields {
  /** On the wire `error.details`, with the finer code in `details.code`. */
  details?: ErrorDetails | undefined;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  /** `payload` of a failed answer that had one, such as a failed run. */
  payload?: unknown;
}

/**
 * A failure as the client saw it. `code` is a wire code (`INVALID_REQUEST`, `FORBIDDEN`, `NOT_PAIRED`, `APPROVAL_NOT_FOUND`, `UNAVAILABLE`)
 * or one of the client's own: `device-unusable`, `gateway-unreachable` (`details.reason`: `refused`, `timeout`, `not-a-gateway`, `network`), `connection-closed`
 * (`details.closeCode`), `request-timed-out`, `too-many-pending`, `aborted`.
 * Not an `SvcError`: that class lives beside zod, which a browser does not load.
 */
export class ClientError extends Error {
  readonly code: string;
  readonly details: ErrorDetails | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly payload: unknown;

  constructor(code: string, message: string, fields: ClientErrorFields = {}) {
    super(message);
    this.name = "ClientError";
    this.code = code;
    this.details = fields.details;
    this.retryable = fields.retryable ?? false;
    this.retryAfterMs = fields.retryAfterMs;
    this.payload = fields.payload;
  }

  /** `details.code`, the finer code of a wire error; any string, for codes that the types do not know. */
  get detailCode(): string | undefined {
    const code: unknown = this.details?.code;
    return typeof code === "string" ? code : undefined;
  }
}

/** True for a `ClientError` of any copy of this module. */
export function isClientError(error: unknown, code?: string): error is ClientError {
  return error instanceof Error && error.name === "ClientError" && (code === undefined || (error as ClientError).code === code);
}

/** The failed answer of a request as an error. */
export function fromWire(error: WireError | undefined, payload: unknown): ClientError {
  return new ClientError(error?.code ?? "UNAVAILABLE", error?.message ?? "the gateway answered with a failure and no reason", {
    // The gateway checks what it sends against the schemas that the types are made of.
    details: error?.details as ErrorDetails | undefined,
    retryable: error?.retryable,
    retryAfterMs: error?.retryAfterMs,
    payload,
  });
}
