import type { ConverseBody } from "./bedrock-converse-checks.ts";

type Block = Record<string, unknown>;
/** A frame of the stream: an event, an exception that the vendor's model has, or an error that it has not. */
export type Frame = { event: string; body: object } | { exception: string; message: string } | { error: string; message: string };

export type ConverseScript =
  | { status: number; type?: string; message: string; headers?: Record<string, string> }
  | {
      content: Block[];
      /** Null: the stream ends without a reason. */
      stop?: string | null;
      /** Sent in place of the end. */
      fault?: Frame;
      /** Only so many frames. */
      frames?: number;
      end?: "cut" | "hang" | "broken";
    };

export const answerText = "The router stands in the höhle of the hall cupboard. 🦉";
export const signature = "EqQBCgIYAhIkM2Y5Zjk+/==";
export const sealed = "EmwKAhgBEgy3va3pzix/LafPsn4=";
const text: Block = { text: answerText };
const thought: Block = { reasoningContent: { reasoningText: { text: "I should look. 🤔", signature } } };
const silentThought: Block = { reasoningContent: { reasoningText: { text: "", signature } } };
const redacted: Block = { reasoningContent: { redactedContent: sealed } };

/** The behaviour by the word behind the first colon of the model's name; none: an answer, or a call when a person wants one. */
export function scriptFor(model: string, body: ConverseBody, attempt: number): ConverseScript {
  const [, word = "", detail = ""] = model.split(":");
  const hasResult = body.messages.at(-1)?.content.some((block) => "toolResult" in block) ?? false;
  const say: ConverseScript = { content: [text] };
  switch (word) {
    case "tool":
      return hasResult ? say : callsOf(body, [[]]);
    case "think":
      return hasResult ? say : callsOf(body, [[thought]]);
    case "redacted":
      return hasResult ? say : callsOf(body, [[thought, redacted, silentThought]]);
    case "parallel":
      return hasResult ? say : callsOf(body, [[text], [], []]);
    case "always-tool":
      return callsOf(body, [[text]]);
    case "stop":
      return { content: [text], stop: detail };
    case "withheld":
      return { content: [], stop: "content_filtered" };
    case "cut":
    case "broken":
      return { content: [thought, text], frames: Number(detail), end: word };
    case "hang":
      return { content: [text], frames: Number(detail), end: "hang" };
    case "ended":
      return { content: [thought, text], frames: Number(detail) };
    case "unreasoned":
      return { content: [text], stop: null };
    case "half-call":
      return { content: [{ toolUse: { toolUseId: "tooluse_bad", name: "memory_search", input: '{"query":"rou' } }], stop: "max_tokens" };
    case "frame":
      return { content: [], fault: faultOf(detail), frames: 1 };
    case "late-frame":
      return { content: [text], fault: faultOf(detail) };
    case "once":
      return attempt === 1 ? { content: [], fault: faultOf("throttlingException"), frames: 1 } : say;
    case "http":
      return httpErrors[detail] ?? { status: 418, message: detail };
    default:
      return !hasResult && /look it up/.test(JSON.stringify(body.messages.at(-1))) ? callsOf(body, [[thought]]) : say;
  }
}

/** Errors over HTTP, by a name. */
export const httpErrors: Readonly<Record<string, { status: number; type?: string; message: string; headers?: Record<string, string> }>> = {
  throttled: { status: 429, type: "ThrottlingException", message: "Too many requests, please wait.", headers: { "retry-after": "2" } },
  daily: { status: 429, type: "ThrottlingException", message: "Too many tokens per day, please wait before trying again." },
  quota: { status: 400, type: "ServiceQuotaExceededException", message: "Your request exceeds the service quota for your account." },
  denied: { status: 403, type: "AccessDeniedException", message: "You don't have access to the model with the specified model ID." },
  expired: { status: 403, type: "ExpiredTokenException", message: "The security token included in the request is expired" },
  missing: { status: 404, type: "ResourceNotFoundException", message: "Could not resolve the foundation model from the model identifier." },
  identifier: { status: 400, type: "ValidationException", message: "The provided model identifier is invalid." },
  profile: {
    ...{ status: 400, type: "ValidationException" },
    message: "Invocation of model ID anthropic.claude with on-demand throughput isn’t supported.",
  },
  long: { status: 400, type: "ValidationException", message: "Input is too long for requested model." },
  prompt: { status: 400, type: "ValidationException", message: "prompt is too long: 210000 tokens > 200000 maximum" },
  both: {
    status: 400,
    type: "ValidationException",
    message: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
  },
  bad: { status: 400, type: "ValidationException", message: "extraneous key [seed] is not permitted" },
  slow: { status: 408, type: "ModelTimeoutException", message: "The request took too long to process." },
  failed: { status: 424, type: "ModelErrorException", message: "The model returned an error." },
  cold: { status: 429, type: "ModelNotReadyException", message: "The model is not ready for inference." },
  internal: { status: 500, type: "InternalServerException", message: "as the script says" },
  busy: { status: 503, type: "ServiceUnavailableException", message: "Bedrock is unable to process your request." },
  gateway: { status: 504, message: "upstream timed out" },
};

function faultOf(name: string): Frame {
  const message = name === "validationException" ? "Input is too long for requested model." : "in the stream";
  return /^[A-Z]/.test(name) ? { error: name, message } : { exception: name, message };
}

/** One call of the first tool for each entry, behind its blocks. */
function callsOf({ toolConfig, messages }: ConverseBody, before: Block[][]): ConverseScript {
  const name = toolConfig?.tools[0]?.toolSpec?.name ?? "none";
  const call = (i: number) => ({ toolUse: { toolUseId: `tooluse_${messages.length}_${i}`, name, input: { query: `wo ist der 🦉 ${i}` } } });
  return { content: before.flatMap((blocks, i) => [...blocks, call(i)]), stop: "tool_use" };
}

/** The answer as the server sends it, with events and members that nobody knows. */
export function framesOf(script: Exclude<ConverseScript, { status: number }>): Frame[] {
  const usage = { inputTokens: 12, outputTokens: 9, totalTokens: 30, cacheReadInputTokens: 4, cacheWriteInputTokens: 5 };
  const end: Frame[] = script.fault
    ? [script.fault]
    : [
        ...(script.stop === null ? [] : [event("messageStop", { stopReason: script.stop ?? "end_turn" })]),
        event("metadata", { usage, metrics: { latencyMs: 3 } }),
      ];
  if (script.content.length === 0 && script.fault) return end;
  return [
    event("messageStart", { role: "assistant" }),
    event("novelEvent", { of: "the future" }),
    ...script.content.flatMap(blockFrames),
    ...end,
  ];
}

/** The vendor pads events to hide the length of what they say. */
function event(name: string, body: object): Frame {
  return { event: name, body: { ...body, p: "abcdefghijk" } };
}

function blockFrames(block: Block, contentBlockIndex: number): Frame[] {
  const delta = (value: object) => event("contentBlockDelta", { contentBlockIndex, delta: value });
  const stop = event("contentBlockStop", { contentBlockIndex });
  const { toolUse, reasoningContent } = block as Record<string, Record<string, unknown> | undefined>;
  if (toolUse) {
    const { input, ...start } = toolUse;
    const json = typeof input === "string" ? input : JSON.stringify(input);
    const pieces = ["", ...halves(json)].map((piece) => delta({ toolUse: { input: piece } }));
    return [event("contentBlockStart", { contentBlockIndex, start: { toolUse: start } }), ...pieces, stop];
  }
  if (reasoningContent?.redactedContent) return [delta({ reasoningContent }), stop];
  if (reasoningContent) {
    const said = reasoningContent.reasoningText as { text: string; signature: string };
    const words = halves(said.text).filter((half) => half !== "");
    return [
      ...words.map((half) => delta({ reasoningContent: { text: half } })),
      delta({ novelContent: { of: 1 } }),
      delta({ reasoningContent: { signature: said.signature } }),
      stop,
    ];
  }
  return [...halves(String(block.text)).map((half) => delta({ text: half })), stop];
}

function halves(whole: string): string[] {
  const middle = whole.length >> 1;
  return [whole.slice(0, middle), whole.slice(middle)];
}
