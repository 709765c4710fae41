import { isModelError, ModelError } from "../../define.ts";
import { isSvcError, type SvcError } from "../../errors.ts";
import { retryAfterMs } from "../../retry-after.ts";
import type { ModelFault } from "../../types/model.ts";
import { readVendorWords, scrubVendorText, type VendorWords } from "../../vendor-text.ts";

/** The parts of the vendor package's call error that we read; its address and request stay where they are. */
interface CallError {
  statusCode?: number;
  responseHeaders?: Record<string, string>;
  responseBody?: string;
}

/** An error of a vendor: its status, as far as it had one, and its words. */
export interface VendorError {
  status?: number | undefined;
  words: VendorWords;
  /** The whole body, as far as it was read. */
  body?: string | undefined;
  headers: Readonly<Record<string, string>>;
}

/** Meaning of one vendor's errors where it differs from the common rules; undefined leaves it to them. */
export interface FaultRules {
  faultOf?(error: VendorError): ModelFault | undefined;
  /** How long the vendor asks to wait, where that does not stand in the usual headers. */
  retryAfterMs?(error: VendorError): number | undefined;
}

const contextPattern =
  /context[_ ](length|window|size)|maximum context|too many (input )?tokens|prompt is too long|input is too long|exceeds? the (model'?s )?(maximum|max|context)|reduce the length/i;

/** Whatever a request or its stream failed with, as a `ModelError` without key, address or prompt. */
export function toModelError(
  error: unknown,
  at: { provider: string; secrets: readonly string[]; now: number; rules?: FaultRules | undefined },
): ModelError {
  const { rules } = at;
  const own = causesOf(error).find(isModelError);
  if (own) return own;
  const say = (what: string, text?: string) => `provider "${at.provider}": ${what}${text ? `: ${scrubVendorText(text, at.secrets)}` : ""}`;
  const call = error as CallError;
  const status = typeof call?.statusCode === "number" ? call.statusCode : undefined;
  if (status !== undefined && status >= 300) {
    const vendor = readVendorWords(call.responseBody);
    const headers = call.responseHeaders ?? {};
    const said: VendorError = { status, words: vendor, body: call.responseBody, headers };
    const fault = rules?.faultOf?.(said) ?? faultOfStatus(status, vendor);
    const wait = rules?.retryAfterMs?.(said) ?? retryAfterMs(headers, at.now);
    return new ModelError(fault, say(`${meaning(fault, status)} (${status})`, vendor.message), {
      status,
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    });
  }
  const broken = causesOf(error).find((cause) => isSvcError(cause));
  if (broken) return brokenRequest(broken, say);
  const code = codeOf(error);
  if (code !== undefined) return new ModelError("network", say("the connection failed", code));
  if (isInStreamError(error)) {
    const fault = rules?.faultOf?.({ words: error, headers: {} }) ?? faultOfVendor(error) ?? "overloaded";
    return new ModelError(fault, say("it reported an error in mid-answer", error.message));
  }
  if (error instanceof Error && /^AI_(InvalidResponseData|JSONParse|TypeValidation|EmptyResponseBody|APICall)Error$/.test(error.name)) {
    return new ModelError(
      "network",
      say(error.name === "AI_InvalidResponseDataError" ? "the answer broke off before its end" : "the answer could not be understood"),
    );
  }
  return new ModelError("invalid_request", say("the request could not be made", error instanceof Error ? error.message : String(error)));
}

/** Classifies what became of a request on its way (`ctx.request`). */
function brokenRequest({ code, fields, message }: SvcError, say: (what: string, text?: string) => string): ModelError {
  switch (code) {
    case "request-failed": {
      const reason = `${fields.reason}${fields.via ?? ""}`;
      return fields.reason === "ETIMEDOUT"
        ? new ModelError("timeout", say("no answer in time", reason))
        : new ModelError("network", say("the connection failed", reason));
    }
    case "response-timeout":
      return new ModelError("timeout", say(`no answer within ${fields.seconds} s${fields.via ?? ""}`));
    case "too-many-requests-waiting":
      return new ModelError("overloaded", say("too many requests are waiting for it"));
    case "invalid-request":
      return new ModelError("invalid_request", say("the request could not be made", message));
    default:
      return new ModelError("network", say(message));
  }
}

function faultOfStatus(status: number, vendor: VendorWords): ModelFault {
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "quota";
  if (status === 429) return faultOfVendor(vendor) === "quota" ? "quota" : "rate_limit";
  if (status === 408 || status === 504) return "timeout";
  if (status >= 500) return "overloaded";
  if (status === 404 || vendor.code === "model_not_found") return "model_not_found";
  return status === 413 || faultOfVendor(vendor) === "context_overflow" ? "context_overflow" : "invalid_request";
}

/** Classifies a fault by the vendor's own words; undefined when they are not known. */
function faultOfVendor(vendor: VendorWords): ModelFault | undefined {
  const words = `${vendor.code ?? ""} ${vendor.type ?? ""}`;
  if (contextPattern.test(`${words} ${vendor.message ?? ""}`)) return "context_overflow";
  if (/insufficient_quota/.test(words)) return "quota";
  if (/rate_limit/.test(words)) return "rate_limit";
  if (/invalid_api_key|authentication|permission/.test(words)) return "auth";
  return /invalid_request/.test(words) ? "invalid_request" : undefined;
}

function meaning(fault: ModelFault, status: number): string {
  if (status < 400) return "it redirects to another address, which is not followed; check baseUrl";
  switch (fault) {
    case "auth":
      return "the key was rejected";
    case "quota":
      return "the account has no credit left";
    case "rate_limit":
      return "the limit of the account is reached";
    case "timeout":
      return "it did not answer in time";
    case "overloaded":
      return "it is overloaded or failing";
    case "model_not_found":
      return "it knows no such model or address";
    case "context_overflow":
      return "the conversation is too long for the model";
    default:
      return "it refused the request";
  }
}

function isInStreamError(error: unknown): error is VendorWords & { message: string } {
  return typeof error === "object" && error !== null && !(error instanceof Error) && typeof (error as VendorWords).message === "string";
}

/** The first system code in a chain of causes. */
function codeOf(error: unknown): string | undefined {
  const codes = causesOf(error).map((at) => (at as { code?: unknown }).code);
  return codes.find((code): code is string => typeof code === "string" && /^(E[A-Z]+|[A-Z]+_[A-Z_]+)$/.test(code));
}

/** An error and what it was caused by, as far as these are errors; eight at most. */
function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < 8; at = at.cause) chain.push(at);
  return chain;
}
