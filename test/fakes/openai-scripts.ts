import type { ChatRequest } from "./openai-checks.ts";

/** Answer of a scripted model to one request. `chunks` go out as SSE frames, `pauseMs` apart. */
export type Script =
  /** `silent`: nothing comes until the test says so, at the head of the answer or behind it. */
  | { kind: "stream"; chunks: object[]; pauseMs?: number; silent?: "at-head" | "behind-head"; end?: "done" | "cut" | "garbage" }
  | { kind: "error"; status: number; error: object; headers?: Record<string, string> }
  | { kind: "hang" };

const text = ["The router ", "stands ", "in the hall cupboard."];
export const okText = text.join("");
/** An answer that repeats how it was given a text from outside, cut in the middle of a marker. */
const quoted = [
  "It says: <<<EXTERNAL_UNTR",
  'USTED_CONTENT id="9f2c4e1ab07d3356">>>\nSource: Em',
  "ail\n---\nOrder 7\n<",
  '<<END_EXTERNAL_UNTRUSTED_CONTENT id="9f2c4e1ab07d3356">>>',
];
export const okUsage = {
  prompt_tokens: 12,
  completion_tokens: 7,
  total_tokens: 19,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

/** The behaviour of a model by its name; names that are not here do not exist. */
export function scriptFor(request: ChatRequest, attempt: number): Script {
  switch (request.model) {
    case "ok":
      return answer(request);
    case "quote":
      return { kind: "stream", chunks: [...content(quoted), finish("stop"), ...usage(request)] };
    case "silent-at-head":
      return { ...answer(request), silent: "at-head" };
    case "silent-behind-head":
      return { ...answer(request), silent: "behind-head" };
    case "unhurried":
      return { ...answer(request), pauseMs: 20 };
    case "reasoning":
      return {
        kind: "stream",
        chunks: [
          delta({ reasoning_content: "Let me " }),
          delta({ reasoning_content: "see." }),
          ...content(text),
          finish("stop"),
          ...usage(request),
        ],
      };
    case "tool":
      return request.messages.at(-1)?.role === "tool" ? answer(request) : callFirstTool(request);
    case "assistant":
      return assist(request);
    case "json":
      return { kind: "stream", chunks: [...content([JSON.stringify({ query: lastText(request) })]), finish("stop"), ...usage(request)] };
    case "length":
      return { kind: "stream", chunks: [...content(["The rou"]), finish("length"), ...usage(request)] };
    case "503-twice":
      return attempt <= 2 ? failure(503, "The server is overloaded", "server_error") : answer(request);
    case "429":
      return { ...failure(429, "Rate limit reached", "requests", "rate_limit_exceeded"), headers: { "retry-after": "2" } };
    case "429-long":
      return { ...failure(429, "Rate limit reached", "requests", "rate_limit_exceeded"), headers: { "retry-after": "90" } };
    case "tool-cut":
      return callTool(request, '{"path":"/etc/important.conf","te', "length");
    case "tool-last":
      return callTool(request, '{"query":"router"}', "tool_calls");
    case "tool-malformed":
      return callTool(request, "{path: 1}", "tool_calls");
    case "tool-slow":
      return { ...callTool(request, JSON.stringify({ text: "0123456789".repeat(40) }), "tool_calls"), pauseMs: 20 };
    case "filtered":
      return { kind: "stream", chunks: [...content(["The rou"]), finish("content_filter"), ...usage(request)] };
    case "filtered-empty":
      return { kind: "stream", chunks: [finish("content_filter"), ...usage(request)] };
    case "no-tools":
      return request.tools ? failure(400, "no-tools does not support tools", "api_error") : answer(request);
    case "500":
      return failure(500, "The server had an error", "server_error");
    case "403":
      return failure(403, "Country not supported", "request_forbidden");
    case "401":
      return failure(401, "Incorrect API key provided", "invalid_request_error", "invalid_api_key");
    case "401-once":
      return attempt <= 1 ? failure(401, "Incorrect API key provided", "invalid_request_error", "invalid_api_key") : answer(request);
    case "tool-then-401":
      return request.messages.at(-1)?.role === "tool"
        ? failure(401, "Incorrect API key provided", "invalid_request_error", "invalid_api_key")
        : callFirstTool(request);
    case "context":
      return failure(400, "This model's maximum context length is 8192 tokens", "invalid_request_error", "context_length_exceeded");
    case "redirect":
      return { ...failure(307, "moved", "moved"), headers: { location: "https://example.org/v1/chat/completions" } };
    case "hang":
      return { kind: "hang" };
    case "slow-drip":
      return { kind: "stream", chunks: content(Array.from({ length: 2_000 }, (_, i) => `${i} `)), pauseMs: 20 };
    case "cut-mid-event":
      return { kind: "stream", chunks: content(text.slice(0, 2)), end: "cut" };
    case "bad-json":
      return { kind: "stream", chunks: content(text.slice(0, 1)), end: "garbage" };
    case "error-in-stream":
      return {
        kind: "stream",
        chunks: [...content(text.slice(0, 1)), { error: { message: "Overloaded, try later", type: "server_error", code: null } }],
      };
    default:
      return failure(404, `The model '${request.model}' does not exist`, "invalid_request_error", "model_not_found");
  }
}

function answer(request: ChatRequest): Script & { kind: "stream" } {
  return { kind: "stream", chunks: [delta({ role: "assistant", content: "" }), ...content(text), finish("stop"), ...usage(request)] };
}

/** Calls the first tool on offer with `{"query": <the last user text>}`, the arguments in two pieces. */
function callFirstTool(request: ChatRequest): Script {
  const tool = request.tools?.[0]?.function.name ?? "no_tool_offered";
  const args = JSON.stringify({ query: lastText(request) });
  const piece = (more: object) => delta({ tool_calls: [{ index: 0, ...more }] });
  const chunks = [
    piece({ id: "call_1", type: "function", function: { name: tool, arguments: "" } }),
    piece({ function: { arguments: args.slice(0, 5) } }),
    piece({ function: { arguments: args.slice(5) } }),
    finish("tool_calls"),
    ...usage(request),
  ];
  return { kind: "stream", chunks };
}

/** Tools that a sentence of a person asks for, and their arguments. */
const wishes: ReadonlyArray<[RegExp, string, object]> = [
  [/where is the router/i, "memory_search", { query: "router" }],
  [/what is in the workspace/i, "exec", { argv: ["ls", "memory"] }],
  [/tidy the kitchen/i, "tidy_kitchen", {}],
];

/** Calls the tool that the last sentence of a person asks for, if it is on offer, and tells then what it said. */
function assist(request: ChatRequest): Script {
  const last = request.messages.at(-1);
  if (last?.role === "tool")
    return { kind: "stream", chunks: [...content(["It says: ", last.content]), finish("stop"), ...usage(request)] };
  const asked = lastText(request);
  const wish = wishes.find(([pattern, name]) => pattern.test(asked) && request.tools?.some((tool) => tool.function.name === name));
  if (!wish) return answer(request);
  const call = { index: 0, id: "call_1", type: "function", function: { name: wish[1], arguments: JSON.stringify(wish[2]) } };
  return { kind: "stream", chunks: [delta({ tool_calls: [call] }), finish("tool_calls"), ...usage(request)] };
}

/** Calls the last tool on offer, which is the client's if there is one, with these arguments, in pieces of ten characters. */
function callTool(request: ChatRequest, args: string, reason: string): Script & { kind: "stream" } {
  const piece = (more: object) => delta({ tool_calls: [{ index: 0, ...more }] });
  const name = request.tools?.at(-1)?.function.name ?? "no_tool_offered";
  const parts = args.match(/.{1,10}/gs) ?? [];
  return {
    kind: "stream",
    chunks: [
      ...content(["Writing. "]),
      piece({ id: "call_1", type: "function", function: { name, arguments: "" } }),
      ...parts.map((part) => piece({ function: { arguments: part } })),
      finish(reason),
      ...usage(request),
    ],
  };
}

function lastText(request: ChatRequest): string {
  const last = request.messages.findLast((m) => m.role === "user");
  return typeof last?.content === "string" ? last.content : "images";
}

function failure(status: number, message: string, type: string, code: string | null = null): Script & { kind: "error" } {
  return { kind: "error", status, error: { error: { message, type, param: null, code } } };
}

function content(pieces: string[]): object[] {
  return pieces.map((piece) => delta({ content: piece }));
}

function delta(value: object): object {
  return chunk([{ index: 0, delta: value, logprobs: null, finish_reason: null }]);
}

function finish(reason: string): object {
  return chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: reason }]);
}

function usage(request: ChatRequest): object[] {
  return request.stream_options?.include_usage ? [{ ...chunk([]), usage: okUsage }] : [];
}

function chunk(choices: object[]): object {
  return { id: "chatcmpl-fake", object: "chat.completion.chunk", created: 1_767_225_700, model: "fake", choices };
}
