import { EmbeddingError } from "../define.ts";
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

const timeoutCodes = new Set(["ETIMEDOUT", "ESOCKETTIMEDOUT"]);

/** The error of a connection that failed, by its system code; its own message may hold an address with credentials, so it is not repeated. */
export function connectionError(error: unknown, adapter: string): EmbeddingError {
  const code = (error as { code?: unknown } | null)?.code;
  const isTimeout = typeof code === "string" && timeoutCodes.has(code);
  const reason = typeof code === "string" ? `: ${code}` : "";
  const what = isTimeout ? "no answer in time" : "the connection failed";
  return new EmbeddingError(isTimeout ? "timeout" : "network", `embedding adapter "${adapter}": ${what}${reason}`, { cause: error });
}
