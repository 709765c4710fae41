import { checkMessages, type MessagesRequest } from "./anthropic-checks.ts";
import { type AnthropicScript, eventsOf, scriptFor } from "./anthropic-scripts.ts";
import { type ModelServer, type ModelServerAnswer, type ModelServerRequest, startModelServer } from "./model-server.ts";

export interface FakeAnthropic extends ModelServer {
  /** Base address, with `/v1`. */
  baseUrl: string;
  apiKey: string;
}

/**
 * A loopback server that speaks the Messages API: checks path, key, version and the whole conversation, records, and acts by what stands behind the colon in
 * the name of the model (`anthropic-scripts.ts`). Blocks of an answer that called tools must come back as they went out.
 */
export async function startFakeAnthropic(options: { seed?: number } = {}): Promise<FakeAnthropic> {
  const apiKey = "sk-ant-fake-0123456789abcdef";
  /** Contents of answers with calls, by the ids of these. */
  const issued = new Map<string, object[]>();
  const attempts = new Map<string, number>();

  function reply(request: ModelServerRequest): ModelServerAnswer {
    const { "x-api-key": key, authorization } = request.headers;
    if ((key === undefined) === (authorization === undefined)) return failure(401, "authentication_error", "send one credential");
    if (key !== apiKey && authorization !== `Bearer ${apiKey}`) return failure(401, "authentication_error", "invalid x-api-key");
    if (request.headers["anthropic-version"] !== "2023-06-01")
      return failure(400, "invalid_request_error", "anthropic-version: header is required");
    if (request.method === "GET" && request.path === "/v1/models?limit=1000") return { kind: "json", status: 200, body: modelList };
    if (request.method !== "POST" || request.path !== "/v1/messages") return failure(404, "not_found_error", "Not Found");
    if (!request.headers["content-type"]?.startsWith("application/json")) return failure(400, "invalid_request_error", "send JSON");
    const problem = checkMessages(request.body, issued);
    if (problem !== undefined) return failure(400, "invalid_request_error", problem);
    const body = request.body as MessagesRequest;
    const attempt = (attempts.get(body.model) ?? 0) + 1;
    attempts.set(body.model, attempt);
    return toReply(scriptFor(body, attempt), issued);
  }

  const server = await startModelServer(reply, options.seed);
  return { ...server, baseUrl: `${server.origin}/v1`, apiKey };
}

function toReply(script: AnthropicScript, issued: Map<string, object[]>): ModelServerAnswer {
  if ("error" in script) return { kind: "json", status: script.error, body: script.body, headers: script.headers ?? {} };
  const { content, events = Number.POSITIVE_INFINITY, end } = script;
  for (const block of content) if (block.type === "tool_use") issued.set(String(block.id), content);
  const all = eventsOf(script).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return { kind: "stream", type: "text/event-stream; charset=utf-8", frames: all.slice(0, events), ...(end === undefined ? {} : { end }) };
}

function failure(status: number, type: string, message: string): ModelServerAnswer {
  return { kind: "json", status, body: { type: "error", error: { type, message }, request_id: "req_fake" } };
}

const yes = { supported: true };
const modelList = {
  data: [
    {
      ...{ type: "model", id: "claude-sonnet-5-5", display_name: "Claude Sonnet 5.5", created_at: "2026-08-01T00:00:00Z" },
      ...{ max_input_tokens: 1_000_000, max_tokens: 128_000 },
      capabilities: {
        image_input: yes,
        pdf_input: yes,
        thinking: { supported: true, types: { adaptive: yes } },
        novel: { supported: "maybe" },
      },
    },
    {
      type: "model",
      id: "claude-3-haiku-20240307",
      display_name: "Claude Haiku 3",
      max_input_tokens: null,
      max_tokens: null,
      capabilities: null,
    },
  ],
  ...{ has_more: false, first_id: "claude-sonnet-5-5", last_id: "claude-3-haiku-20240307" },
};
