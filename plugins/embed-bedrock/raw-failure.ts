/** Reason why a call failed, as plain data that crosses the border of the thread; no credential in it. */
export interface RawFailure {
  /** The vendor's name of the error, or that of its package; empty for others. */
  name: string;
  /** One line. */
  message: string;
  /** System code, such as `ECONNRESET`. */
  code?: string;
  /** Status of the answer, when it was not a success. */
  status?: number;
  /** The header of that name. */
  retryAfter?: string;
}

/** Name of failures of an answer with status 200 that is none. */
export const BAD_ANSWER = "BadAnswer";

/** Error thrown by the AWS client, as far as it is read. */
interface Thrown {
  name?: unknown;
  message?: unknown;
  code?: unknown;
  cause?: unknown;
  /** Body of an answer from a server between us and the vendor, which speaks another dialect. */
  error?: unknown;
  $metadata?: { httpStatusCode?: number };
  $response?: { statusCode?: number; headers?: Record<string, string> };
}

/**
 * Whatever a call failed with. Of the message only the first line: below it the vendor repeats what it signed, session token included. Pure.
 * @param sent credentials of the request, which careless servers repeat
 */
export function rawFailureOf(error: unknown, sent: readonly string[] = []): RawFailure {
  const thrown = (typeof error === "object" && error !== null ? error : { message: String(error) }) as Thrown;
  const status = thrown.$metadata?.httpStatusCode ?? thrown.$response?.statusCode;
  const code = codeOf(thrown);
  const retryAfter = thrown.$response?.headers?.["retry-after"];
  const line = wordsOf(thrown).split("\n", 1)[0]?.trim() ?? "";
  return {
    name: typeof thrown.name === "string" && !/^(Error|UnknownError|Unknown)$/.test(thrown.name) ? thrown.name : "",
    message: sent.reduce((text, secret) => (secret === "" ? text : text.replaceAll(secret, "***")), line),
    ...(code === undefined ? {} : { code }),
    ...(status === undefined || status < 300 ? {} : { status }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

/** Whether credentials were missing or refused: other ones may be there by now. */
export function isRefusal({ name, status }: RawFailure): boolean {
  return status === 401 || status === 403 || isCredentialError(name);
}

/** Errors of the credential chain itself, before any request. */
export function isCredentialError(name: string): boolean {
  return /^(CredentialsProvider|TokenProvider|Provider)Error$/.test(name);
}

function wordsOf({ message, error }: Thrown): string {
  if (typeof message === "string" && message !== "UnknownError") return message;
  const inner = typeof error === "object" && error !== null ? (error as Thrown).message : error;
  return typeof inner === "string" ? inner : "";
}

/** The first system code in a chain of causes. */
function codeOf(thrown: Thrown): string | undefined {
  for (let at: unknown = thrown, depth = 0; typeof at === "object" && at !== null && depth < 8; depth++) {
    const { code, cause } = at as Thrown;
    if (typeof code === "string" && /^(E[A-Z0-9]+|[A-Z]+_[A-Z0-9_]+)$/.test(code)) return code;
    at = cause;
  }
  return undefined;
}
