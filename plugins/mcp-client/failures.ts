import { isRecord, messageOf } from "svc/sdk";
import { ScopeRefusal } from "./scope.ts";

/** Meaning of an error of a call for the connection. */
export type Failure =
  /** Nothing was sent: the call may be made again. */
  | "unsent"
  /** The connection or its session is gone; whether the call arrived is not known. */
  | "lost"
  /** The server wants a login. */
  | "login"
  /** The server wants more rights than the login has. */
  | "scope"
  | "timeout"
  /** The server answered with an error, or with something that is no answer. */
  | "answered";

const lostCodes = new Set(["CONNECTION_CLOSED", "SEND_FAILED"]);
const unsentCauses = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** Reads the errors of the client library, of `fetch` and of the system. Pure. */
export function failureOf(error: unknown): Failure {
  if (scopeRefusal(error)) return "scope";
  const { code, status, name } = fieldsOf(error);
  if (status === 401 || code === "CLIENT_HTTP_AUTHENTICATION" || name === "UnauthorizedError") return "login";
  if (code === "NOT_CONNECTED") return "unsent";
  if (code === "REQUEST_TIMEOUT") return "timeout";
  // A server that was restarted knows the session no more; by the specification it says 404, and some say 400.
  if (status === 404 || status === 400 || (typeof code === "string" && lostCodes.has(code))) return "lost";
  const cause = fieldsOf(isRecord(error) || error instanceof Error ? (error as { cause?: unknown }).cause : undefined);
  if (typeof cause.code === "string" && unsentCauses.has(cause.code)) return "unsent";
  if (error instanceof TypeError || typeof cause.code === "string") return "lost";
  return "answered";
}

/** The refusal for want of rights in an error, which the library may have put into one of its own. Pure. */
export function scopeRefusal(error: unknown): ScopeRefusal | undefined {
  if (error instanceof ScopeRefusal) return error;
  return error instanceof Error && error.cause instanceof ScopeRefusal ? error.cause : undefined;
}

function fieldsOf(error: unknown): { code?: unknown; status?: unknown; name?: unknown } {
  if (typeof error !== "object" || error === null) return {};
  const { code, status, data, name } = error as { code?: unknown; status?: unknown; data?: unknown; name?: unknown };
  return { code, name, status: status ?? (isRecord(data) ? data.status : undefined) };
}

/** The message of an error with the one behind it, which names what `fetch` met. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const { code } = fieldsOf(cause);
  if (typeof code === "string") return `${messageOf(error)} (${code})`;
  return cause instanceof Error && cause.message !== "" ? `${messageOf(error)}: ${cause.message}` : messageOf(error);
}
