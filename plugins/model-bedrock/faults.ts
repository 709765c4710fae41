import { type BedrockFailure, isModelError, ModelError, type ModelFault, retryAfterMs, scrubVendorText } from "svc/sdk";

type Failure = BedrockFailure["failure"];

/** The vendor's names of errors, and those of its package; the first match decides. In frames of a stream they begin with a small letter. */
const byName: ReadonlyArray<readonly [name: RegExp, fault: ModelFault]> = [
  [/ServiceQuotaExceeded/i, "quota"],
  [/Throttl|TooManyRequests|SlowDown|RequestLimitExceeded/i, "rate_limit"],
  [/ModelTimeout|RequestTimeout|^TimeoutError$/i, "timeout"],
  [/ServiceUnavailable|InternalServer|InternalFailure|ModelNotReady|ModelError|ModelStreamError/i, "overloaded"],
  [/AccessDenied|ExpiredToken|RequestExpired|UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId|OptInRequired/i, "auth"],
  [/Signature|MissingAuthentication|NotAuthorized|AuthFailure/i, "auth"],
  [/^(?:CredentialsProvider|TokenProvider|Provider)Error$/i, "auth"],
  [/ResourceNotFound|UnknownOperation/i, "model_not_found"],
];

const tooLong =
  /(?:input|prompt)[^.]{0,200} too long|too many (?:input )?tokens|maximum context|exceed context limit|exceeds? the (?:model'?s )?maximum/i;
const unknownModel = /model (?:identifier|id)\b[^.]{0,200}(?:invalid|not (?:found|exist|supported))|on-demand throughput isn.t supported/i;
const spent = /per day|billing|insufficient_quota/i;

const meanings: Readonly<Record<ModelFault, string>> = {
  auth: "the credentials are missing or were rejected; check them, and that they may call this model (bedrock:InvokeModelWithResponseStream)",
  quota: "the account has no quota left",
  rate_limit: "the limit of the account is reached",
  overloaded: "it is overloaded or failing",
  timeout: "it did not answer in time",
  network: "the connection failed",
  model_not_found: "it knows no such model in this region; some need an inference profile (us.…, global.…)",
  content_filter: "the answer was withheld",
  empty: "the answer was empty",
  context_overflow: "the conversation is too long for the model",
  invalid_request: "it refused the request",
};

/** Classifies a failed call by the vendor's name for it, else by its status. Pure. */
export function faultOf({ name, message, code, status }: Failure): ModelFault {
  if (code === "ERR_MODULE_NOT_FOUND") return "auth";
  if (code === "ECONNRESET" || code === "EPIPE") return "network";
  const named = byName.find(([pattern]) => pattern.test(name))?.[1];
  if (named !== undefined) return named === "rate_limit" && spent.test(message) ? "quota" : named;
  if (tooLong.test(message) || status === 413) return "context_overflow";
  if (unknownModel.test(message)) return "model_not_found";
  if (/validation/i.test(name)) return "invalid_request";
  return status === undefined ? "network" : faultOfStatus(status);
}

function faultOfStatus(status: number): ModelFault {
  if (status === 401 || status === 403) return "auth";
  if (status === 404) return "model_not_found";
  if (status === 408 || status === 504) return "timeout";
  if (status === 429) return "rate_limit";
  return status >= 500 ? "overloaded" : "invalid_request";
}

/**
 * Whatever a turn failed with: failures of the service as a `ModelError`, everything else as it came.
 * @param at.secrets values of the config that no message may show
 */
export function toModelError(error: unknown, at: { provider: string; secrets: readonly string[]; now: number }): unknown {
  if (isModelError(error) || !isBedrockFailure(error)) return error;
  const { name, message, code, status, retryAfter } = error.failure;
  const fault = faultOf(error.failure);
  const wait = retryAfterMs({ "retry-after": retryAfter }, at.now);
  const said = scrubVendorText([code, message].filter(Boolean).join(": "), at.secrets);
  const text = `provider "${at.provider}": ${meanings[fault]}${status === undefined ? "" : ` (${status})`}`;
  return new ModelError(fault, `${text}${name === "" && said === "" ? "" : `: ${[name, said].filter(Boolean).join(": ")}`}`, {
    ...(status === undefined ? {} : { status }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

function isBedrockFailure(error: unknown): error is BedrockFailure {
  return error instanceof Error && typeof (error as Partial<BedrockFailure>).failure === "object";
}
