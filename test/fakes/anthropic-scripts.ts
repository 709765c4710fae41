import type { MessagesRequest } from "./anthropic-checks.ts";

type Block = Record<string, unknown> & { type: string };

export type AnthropicScript =
  | { error: number; body: object; headers?: Record<string, string> }
  | {
      content: Block[];
      /** Null: the message ends without a reason. */
      stop?: string | null;
      /** Sent in place of the end of the message. */
      fault?: { type: string; message: string };
      /** Only so many events. */
      events?: number;
      end?: "cut" | "hang";
    };
type Event = { type: string } & Record<string, unknown>;

export const answerText = "The router stands in the höhle of the hall cupboard. 🦉";
export const signature = "EqQBCgIYAhIkM2Y5Zjk+/==";
export const sealed = "EmwKAhgBEgy3va3pzix/LafPsn4=";
const text: Block = { type: "text", text: answerText };
export const thinking: Block = { type: "thinking", thinking: "I should look. 🤔", signature };
export const redacted: Block = { type: "redacted_thinking", data: sealed };

/** The behaviour by the word behind the colon of the model's name; none: an answer, or a call when a person wants one, behind thinking when the request asks for it. */
export function scriptFor(request: MessagesRequest, attempt: number): AnthropicScript {
  const [, word = "", detail = ""] = request.model.split(":");
  const hasResult = request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") ?? false;
  const say: AnthropicScript = { content: [text] };
  switch (word) {
    case "tool":
      return hasResult ? say : callsOf(request, [[]]);
    case "think":
      return hasResult ? say : callsOf(request, [[thinking]]);
    case "redacted":
      return hasResult ? say : callsOf(request, [[thinking, redacted, { ...thinking, thinking: "" }]]);
    case "parallel":
      return hasResult ? say : callsOf(request, [[text], [], []]);
    case "stop":
      return detail === "pause_turn" && attempt > 1 ? say : { content: [text], stop: detail };
    case "withheld":
      return { content: [], stop: "refusal" };
    case "cut":
      return { content: [thinking, text], events: Number(detail), end: "cut" };
    case "ended":
      return { content: [thinking, text], events: Number(detail) };
    case "unreasoned":
      return { content: [text], stop: null };
    case "hang":
      return { content: [text], events: Number(detail), end: "hang" };
    case "malformed":
      return { content: [{ type: "tool_use", id: "toolu_bad", name: "memory_search", input: '{"query":"rou' }], stop: "max_tokens" };
    case "first-error":
      return { content: [], fault: { type: detail, message: "in the stream" }, events: 1 };
    case "late-error":
      return { content: [text], fault: { type: detail, message: "in the stream" } };
    case "once":
      return attempt === 1 ? httpError("529", "7") : say;
    case "http":
      return httpError(detail, detail === "429" ? "2" : undefined);
    default:
      return !hasResult && /look it up/.test(JSON.stringify(request.messages.at(-1)))
        ? callsOf(request, [isThinking(request) ? [thinking, redacted] : []])
        : say;
  }
}

function isThinking({ thinking }: MessagesRequest): boolean {
  return thinking !== undefined && thinking.type !== "disabled";
}

/** Status, type and words of errors, by a name. */
export const httpErrors: Readonly<Record<string, [status: number, type: string, message: string]>> = {
  "400": [400, "invalid_request_error", "messages: roles must alternate"],
  "401": [401, "authentication_error", "invalid x-api-key"],
  "402": [402, "billing_error", "There is a problem with your billing"],
  "403": [403, "permission_error", "Your API key does not have permission"],
  "404": [404, "not_found_error", "model: claude-nope"],
  "413": [413, "request_too_large", "Request exceeds the maximum size"],
  "429": [429, "rate_limit_error", "This request would exceed the rate limit"],
  "500": [500, "api_error", "Internal server error"],
  "504": [504, "timeout_error", "Request timeout"],
  "529": [529, "overloaded_error", "Overloaded"],
  spent: [429, "rate_limit_error", "enforced_spend_limit_reached"],
  credit: [400, "invalid_request_error", "Your credit balance is too low to access the API."],
  long: [400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"],
  both: [400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"],
};

function httpError(name: string, retryAfter?: string): AnthropicScript {
  const [error, type, message] = httpErrors[name] ?? [418, "teapot_error", name];
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return { error, body: { type: "error", error: { type, message }, request_id: "req_fake" }, headers };
}

/** One call of the first tool for each entry, behind its blocks. */
function callsOf({ tools = [], messages }: MessagesRequest, before: Block[][]): AnthropicScript {
  const name = tools[0]?.name ?? "none";
  const content = before.flatMap((blocks, i) => [
    ...blocks,
    { type: "tool_use", id: `toolu_${messages.length}_${i}`, name, input: { query: `wo ist der 🦉 ${i}` } },
  ]);
  return { content, stop: "tool_use" };
}

/** A message as the server sends it, with a ping and an event that nobody knows. */
export function eventsOf(script: Exclude<AnthropicScript, { error: number }>): Event[] {
  const usage = { input_tokens: 12, cache_creation_input_tokens: 5, cache_read_input_tokens: 4, output_tokens: 1 };
  const message = {
    id: "msg_fake",
    type: "message",
    role: "assistant",
    model: "fake",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const end: Event[] = script.fault
    ? [{ type: "error", error: script.fault }]
    : [
        {
          type: "message_delta",
          delta: { stop_reason: script.stop === undefined ? "end_turn" : script.stop, stop_sequence: null },
          usage: { output_tokens: 9, output_tokens_details: { thinking_tokens: 3 } },
        },
        { type: "message_stop" },
      ];
  if (script.content.length === 0 && script.fault) return end;
  return [
    { type: "message_start", message },
    { type: "ping" },
    { type: "novel_event", detail: { of: "the future" } },
    ...script.content.flatMap(blockEvents),
    ...end,
  ];
}

function blockEvents(block: Block, index: number): Event[] {
  const start = (content_block: object): Event => ({ type: "content_block_start", index, content_block });
  const delta = (value: object): Event => ({ type: "content_block_delta", index, delta: value });
  const stop: Event = { type: "content_block_stop", index };
  const halves = (whole: string) => [whole.slice(0, whole.length >> 1), whole.slice(whole.length >> 1)];
  switch (block.type) {
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...halves(String(block.thinking))
          .filter(Boolean)
          .map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "novel_delta", novelty: 1 }),
        delta({ type: "signature_delta", signature: block.signature }),
        stop,
      ];
    case "tool_use": {
      const json = typeof block.input === "string" ? block.input : JSON.stringify(block.input);
      return [
        start({ ...block, input: {} }),
        ...["", ...halves(json)].map((partial_json) => delta({ type: "input_json_delta", partial_json })),
        stop,
      ];
    }
    case "text":
      return [
        start({ type: "text", text: "" }),
        ...halves(String(block.text)).map((half) => delta({ type: "text_delta", text: half })),
        stop,
      ];
    default:
      return [start(block), stop];
  }
}
