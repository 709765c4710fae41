import type { GenerateRequest, GooglePart } from "./google-checks.ts";

interface GoogleError {
  code: number;
  message: string;
  status: string;
  details?: object[];
}

export type GoogleScript =
  | { error: GoogleError }
  | {
      parts: GooglePart[];
      finish?: string;
      blockReason?: string;
      fault?: GoogleError;
      /** Only so many chunks. */
      chunks?: number;
      end?: "cut" | "hang";
    };

export const answerText = "The router stands in the höhle of the hall cupboard. 🦉";
export const thoughtText = "I should look. 🤔";
export const signature = "CiQB0e2Kb7Zjk+/==";
const text: GooglePart[] = [{ text: answerText.slice(0, 20) }, { text: answerText.slice(20) }];
export const thought: GooglePart = { text: thoughtText, thought: true };

/** The behaviour by the word behind the tilde of the model's name; none: an answer, or two calls when a person wants some, behind a thought when the request asks for it. */
export function scriptFor(request: GenerateRequest, { model, attempt }: { model: string; attempt: number }): GoogleScript {
  const [, word = "", detail = ""] = model.split("~");
  const last = request.contents.at(-1);
  const hasResult = last?.parts.some(({ functionResponse }) => functionResponse !== undefined) ?? false;
  const say: GoogleScript = { parts: text };
  switch (word) {
    case "tool":
      return hasResult ? say : callsOf(request, 1);
    case "unsigned":
      return hasResult ? say : { parts: [{ functionCall: callOf(request, 0) }] };
    case "parallel":
      return hasResult ? say : callsOf(request, 2);
    case "think":
      return hasResult ? say : callsOf(request, 1, [thought]);
    case "stop":
      return { parts: text, finish: detail };
    case "blocked":
      return { parts: [], blockReason: "PROHIBITED_CONTENT" };
    case "cut":
      return { parts: [thought, ...text], chunks: Number(detail), end: "cut" };
    case "ended":
      return { parts: [thought, ...text], chunks: Number(detail) };
    case "hang":
      return { parts: text, chunks: Number(detail), end: "hang" };
    case "malformed-once":
      return attempt === 1 ? { parts: [], finish: "MALFORMED_FUNCTION_CALL" } : say;
    case "late-error":
      return { parts: text, fault: httpErrors[detail] ?? unknownError };
    case "http":
      return { error: httpErrors[detail] ?? unknownError };
    case "once":
      return attempt === 1 ? { error: httpErrors[detail] ?? unknownError } : say;
    default:
      return !hasResult && /look it up/.test(JSON.stringify(last)) ? callsOf(request, 2, isThinking(request) ? [thought] : []) : say;
  }
}

function isThinking({ generationConfig }: GenerateRequest): boolean {
  return (generationConfig?.thinkingConfig as { includeThoughts?: boolean } | undefined)?.includeThoughts === true;
}

const unknownError: GoogleError = { code: 418, message: "?", status: "TEAPOT" };
const keyInfo = (reason: string) => [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" }];
const retryIn = (retryDelay: string) => [
  { "@type": "type.googleapis.com/google.rpc.Help", links: [] },
  { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay },
];

const violated = (quotaId: string) => ({ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] });
const perDay = violated("GenerateRequestsPerDayPerProjectPerModel-FreeTier");

const quota = "You exceeded your current quota, please check your plan and billing details.";
const many = (details?: object[]): GoogleError => ({
  code: 429,
  message: quota,
  status: "RESOURCE_EXHAUSTED",
  ...(details ? { details } : {}),
});

export const httpErrors: Readonly<Record<string, GoogleError>> = {
  API_KEY_INVALID: {
    ...{ code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" },
    details: keyInfo("API_KEY_INVALID"),
  },
  expired: { code: 400, message: "Please renew it.", status: "INVALID_ARGUMENT", details: keyInfo("API_KEY_INVALID") },
  "400": { code: 400, message: "Request contains an invalid argument.", status: "INVALID_ARGUMENT" },
  "403": { code: 403, message: "Permission denied", status: "PERMISSION_DENIED" },
  "404": { code: 404, message: "models/gemini-nope is not found for API version v1beta", status: "NOT_FOUND" },
  "34s": many(retryIn("34s")),
  "90s": many(retryIn("90s")),
  "1.5s": many(retryIn("1.5s")),
  soon: { ...many(retryIn("soon")), message: "Resource has been exhausted" },
  "34h": many(retryIn("122400s")),
  spent: many(),
  day: many([perDay]),
  "day-34s": many([perDay, ...retryIn("34s")]),
  minute: many([violated("GenerateRequestsPerMinutePerProjectPerModel")]),
  broken: many([{ violations: "none" }, ...retryIn("34s")]),
  long: {
    code: 400,
    message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    status: "INVALID_ARGUMENT",
  },
  "500": { code: 500, message: "An internal error has occurred.", status: "INTERNAL" },
  "503": { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" },
  "504": { code: 504, message: "Deadline expired", status: "DEADLINE_EXCEEDED" },
};

function callOf({ tools, contents }: GenerateRequest, i: number): NonNullable<GooglePart["functionCall"]> {
  const name = tools?.[0]?.functionDeclarations?.[0]?.name ?? "none";
  return { id: `call${contents.length}-${i}`, name, args: { query: `wo ist der 🦉 ${i}` } };
}

/** Calls of the first function at once; only the first has a signature. */
function callsOf(request: GenerateRequest, count: number, before: GooglePart[] = []): GoogleScript {
  const calls = Array.from({ length: count }, (_, i) => ({
    functionCall: callOf(request, i),
    ...(i === 0 ? { thoughtSignature: signature } : {}),
  }));
  return { parts: [...before, ...calls] };
}

/** An answer as the server sends it, one part a chunk, with fields and a chunk that nobody knows. */
export function chunksOf(script: Exclude<GoogleScript, { error: GoogleError }>): object[] {
  const usageMetadata = {
    promptTokenCount: 12,
    cachedContentTokenCount: 4,
    candidatesTokenCount: 6,
    thoughtsTokenCount: 3,
    totalTokenCount: 21,
  };
  if (script.blockReason !== undefined)
    return [{ promptFeedback: { blockReason: script.blockReason }, usageMetadata: { promptTokenCount: 12 } }];
  const candidate = (parts: GooglePart[], more: object = {}) => ({
    candidates: [{ content: { role: "model", parts }, index: 0, novelty: { of: "the future" }, ...more }],
    ...{ modelVersion: "fake", responseId: "r1" },
  });
  const end = script.fault
    ? { error: script.fault }
    : { ...candidate([{ text: "", thoughtSignature: signature }], { finishReason: script.finish ?? "STOP" }), usageMetadata };
  return [{ novelChunk: {} }, ...script.parts.map((part) => candidate([part])), end];
}
