import { EmbeddingError, type EmbeddingFault, faultOfStatus, retryAfterMs, scrubVendorText } from "svc/sdk";
import { BAD_ANSWER, isCredentialError, type RawFailure } from "./raw-failure.ts";

/** The vendor's names of errors, and those of its package; the first match decides. */
const byName: ReadonlyArray<readonly [name: RegExp, fault: EmbeddingFault]> = [
  [/Throttl|TooManyRequests|SlowDown|RequestLimitExceeded/, "rate-limit"],
  [/ServiceQuotaExceeded/, "quota"],
  [/ModelTimeout|RequestTimeout|^TimeoutError$/, "timeout"],
  [/ServiceUnavailable|InternalServer|InternalFailure|ModelNotReady|ModelError|ModelStreamError/, "overloaded"],
  [/AccessDenied|ExpiredToken|RequestExpired|UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId|OptInRequired/, "auth"],
  [/Signature|MissingAuthentication|NotAuthorized|AuthFailure/, "auth"],
  [/ResourceNotFound|UnknownOperation/, "model"],
];

const tooLongPattern =
  /too many (input )?tokens|maxLength|(input|text)[^.]{0,200} too (long|large)|(exceed|longer than)[^.]{0,200}(length|limit|maximum|token)/i;
const unknownModelPattern = /model (identifier|id)\b[^.]{0,200}(invalid|not (found|exist|supported))|invalid model/i;
const quotaPattern = /insufficient_quota|billing/i;
/** The package calls these a time-out, though somebody hung up. */
const hungUpCodes = new Set(["ECONNRESET", "EPIPE"]);

/** Classifies a failed call by the vendor's name for it, else by its status. Pure. */
export function faultOf({ name, message, code, status }: RawFailure): EmbeddingFault {
  if (name === BAD_ANSWER) return "bad-response";
  if (code === "ERR_MODULE_NOT_FOUND" || isCredentialError(name)) return "no-credentials";
  if (code !== undefined && hungUpCodes.has(code)) return "network";
  const named = byName.find(([pattern]) => pattern.test(name))?.[1];
  if (named === "rate-limit" && quotaPattern.test(message)) return "quota";
  if (named !== undefined) return named;
  if (name.includes("Validation")) return faultOfValidation(message);
  return status === undefined ? "network" : faultOfStatus(status, message);
}

function faultOfValidation(message: string): EmbeddingFault {
  if (unknownModelPattern.test(message)) return "model";
  return tooLongPattern.test(message) ? "too-long" : "invalid-request";
}

const meanings: Readonly<Record<EmbeddingFault, string>> = {
  "no-credentials": "there are no usable AWS credentials",
  auth: "the credentials were rejected; check them, and that they may invoke this model (bedrock:InvokeModel)",
  model: "the model or the address was not found; check model, region and baseUrl",
  "not-ready": "the model is not ready",
  quota: "the account has no quota left; raise it or choose another provider",
  "rate-limit": "the rate limit is reached",
  overloaded: "the service is overloaded or failing",
  timeout: "no answer in time",
  network: "the connection failed",
  "invalid-request": "the request was refused",
  "too-long": "the text is too long for the model",
  "bad-response": "the answer cannot be used",
};

/** Text that is not of the vendor: what went wrong on this side. */
export function ownFault(fault: EmbeddingFault, text: string): EmbeddingError {
  return new EmbeddingError(fault, `embedding adapter "bedrock": ${text}`);
}

/**
 * A failed call as the index and the operator get to see it: one line, no credential.
 * @param now wall clock in epoch ms, for waits that are given as a date
 * @param secrets texts that the message must not show
 */
export function toEmbeddingError(failure: RawFailure, now: number, secrets: readonly string[] = []): EmbeddingError {
  const { name, message, code, status, retryAfter } = failure;
  if (code === "ERR_MODULE_NOT_FOUND") {
    return ownFault("no-credentials", "the package @aws-sdk/client-bedrock-runtime is missing; reinstall svc, or choose another provider");
  }
  const fault = faultOf(failure);
  const wait = retryAfterMs({ "retry-after": retryAfter }, now);
  const said = scrubVendorText([name === BAD_ANSWER ? "" : name, code, message].filter(Boolean).join(": "), secrets);
  const text = `${meanings[fault]}${status === undefined ? "" : ` (${status})`}${said === "" ? "" : `: ${said}`}`;
  return new EmbeddingError(fault, `embedding adapter "bedrock": ${text}`, {
    ...(status === undefined ? {} : { status }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}
