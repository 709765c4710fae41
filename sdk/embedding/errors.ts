import { EmbeddingError } from "../define.ts";
import { isSvcError } from "../errors.ts";
import { retryAfterMs } from "../retry-after.ts";
import type { EmbeddingFault } from "../types/embedding.ts";
import { readVendorWords, scrubVendorText } from "../vendor-text.ts";

/** Vendor that failed, and what must not be seen in the message. */
export interface FaultSubject {
  /** Adapter id. */
  adapter: string;
  secrets: readonly string[];
  /** Classifies a status where the vendor differs from others; undefined: the common meaning. */
  faultOf?: ((status: number, body: string) => EmbeddingFault | undefined) | undefined;
}

/** An answer that is no success. */
export interface RefusedAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** At most 8 KiB. */
  body: string;
  /** Wall clock in epoch ms. */
  now: number;
}

const quotaWords = /insufficient_quota|billing|credit balance|payment required/i;
const lengthWords =
  /(maximum|max|context)[\w ]{0,80}(context|length|tokens|size)|too many tokens|(input|text|prompt|request)[\w ]{0,80} is too (long|large)|exceeds? the [\w ]{0,80}(limit|maximum|context)/i;

/** The fault a status stands for; `body` tells money from speed, and length from other mistakes. */
export function faultOfStatus(status: number, body: string): EmbeddingFault {
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "quota";
  if (status === 404 || (status >= 300 && status < 400)) return "model";
  if (status === 408) return "timeout";
  if (status === 413) return "too-long";
  if (status === 429) return quotaWords.test(body) ? "quota" : "rate-limit";
  if (status >= 500) return "overloaded";
  return status === 400 && lengthWords.test(body) ? "too-long" : "invalid-request";
}

/** The error of an answer that is no success: what it means, what the vendor says without any key, and the wait it asks for. */
export function refusalError(answer: RefusedAnswer, { adapter, secrets, faultOf }: FaultSubject): EmbeddingError {
  const { status, body } = answer;
  const fault = faultOf?.(status, body) ?? faultOfStatus(status, body);
  const said = scrubVendorText(readVendorWords(body).message ?? body, secrets);
  const isRedirect = status >= 300 && status < 400;
  const what = isRedirect ? redirectText(answer) : `${meanings[fault] ?? "the request was refused"} (${status})${said ? `: ${said}` : ""}`;
  const wait = retryAfterMs(answer.headers, answer.now);
  return new EmbeddingError(fault, `embedding adapter "${adapter}": ${what}`, {
    status,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

const meanings: Readonly<Partial<Record<EmbeddingFault, string>>> = {
  auth: "the key was rejected; check it",
  model: "the model or the address was not found; check model and baseUrl",
  quota: "the account has no quota left; top it up or choose another provider",
  "rate-limit": "the rate limit is reached",
  overloaded: "the server is overloaded or failing",
  timeout: "the server did not answer in time",
  "too-long": "the request is too long",
};

function redirectText({ status, headers }: RefusedAnswer): string {
  const to = URL.canParse(headers.location ?? "") ? new URL(headers.location as string).origin : "another address";
  return `the server redirects to ${to} (${status}), where no key is sent; set baseUrl to the address that answers`;
}

/** The error of an answer that took too long. */
export function timeoutError(adapter: string, timeoutMs: number): EmbeddingError {
  return new EmbeddingError("timeout", `embedding adapter "${adapter}": no answer within ${timeoutMs / 1000} s`);
}

/**
 * The error of a request that got no answer, by its code; a message of the system's may hold an address with credentials, so it is not repeated. A proxy is
 * named, because the operator is the one who can do something about it.
 */
export function connectionError(error: unknown, { adapter, timeoutMs }: { adapter: string; timeoutMs: number }): EmbeddingError {
  if (isSvcError(error, "response-timeout")) return timeoutError(adapter, timeoutMs);
  const failed = (what: string, fault: EmbeddingFault = "network") =>
    new EmbeddingError(fault, `embedding adapter "${adapter}": ${what}`, { cause: error });
  if (isSvcError(error, "proxy-failed") || isSvcError(error, "too-many-requests-waiting")) return failed(error.message);
  const { reason, via = "" } = reasonOf(error);
  if (reason === "ETIMEDOUT") return failed(`no answer in time: ${reason}${via}`, "timeout");
  return failed(`the connection failed${reason === undefined ? "" : `: ${reason}${via}`}`);
}

/** Code of the system, and the proxy that the connection was made through. */
function reasonOf(error: unknown): { reason?: string; via?: string } {
  if (isSvcError(error, "request-failed")) return error.fields;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? { reason: code } : {};
}
