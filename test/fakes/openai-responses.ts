import { type ModelServer, type ModelServerAnswer, type ModelServerRequest, startModelServer } from "./model-server.ts";
import { checkResponsesRequest, type InputItem, type ResponsesRequest } from "./openai-responses-checks.ts";

export interface FakeResponses extends ModelServer {
  /** Base address, with `/v1`. */
  url: string;
  apiKey: string;
}

/** Content of reasoning as the vendor gives it out, by the id of its item. */
export const sealedAs = (id: string) => `sealed-${id.slice("rs_".length)}+/=${"x".repeat(40)}`;
export const okText = "The router stands in the hall cupboard. Ünï→☂";
/** Events of an answer with reasoning and a call, the last one included. */
export const CALL_FRAMES = 17;

interface Issued {
  sealed: string;
  summary: readonly string[];
  before: string | undefined;
}

/**
 * A loopback server with the Responses API: checks key and request, keeps what it sealed, and acts by what follows the family in the name of the model:
 * `gpt-5.4-tool` reasons and calls tools, `gpt-4.1-text` does not reason.
 */
export async function startFakeResponses(options: { apiKey?: string; models?: string[]; seed?: number } = {}): Promise<FakeResponses> {
  const apiKey = options.apiKey ?? "sk-fake-0123456789abcdef";
  const issued = new Map<string, Issued>();
  const answer = (request: ModelServerRequest): ModelServerAnswer => {
    if (request.headers.authorization !== `Bearer ${apiKey}`)
      return failure(401, { message: `Incorrect API key provided: ${request.headers.authorization}`, code: "invalid_api_key" });
    if (request.method === "GET" && request.path === "/v1/models")
      return json({
        object: "list",
        data: (options.models ?? ["gpt-5.4-tool"]).map((id) => ({ id, object: "model", created: 0, owned_by: "fake" })),
      });
    if (request.method !== "POST" || request.path !== "/v1/responses")
      return failure(404, { message: "Unknown request URL", code: "unknown_url" });
    if (request.headers["content-type"] !== "application/json") return failure(400, { message: "you must send JSON" });
    const checked = checkResponsesRequest(request.body, issued);
    if ("problem" in checked) return failure(400, { message: checked.problem, code: "invalid_value", param: checked.param });
    return play(checked.request, issued);
  };
  const server = await startModelServer(answer, options.seed);
  return { ...server, url: `${server.origin}/v1`, apiKey };
}

const families = /^(?:gpt-5\.4|gpt-4\.1|o3|own)-/;

function play(request: ResponsesRequest, issued: Map<string, Issued>): ModelServerAnswer {
  const script = request.model.replace(families, "");
  const reasons = request.include !== undefined;
  const turn = createTurn(request, issued);
  const status = /^status-(\d+)-?(.*)$/.exec(script);
  if (status) return failure(Number(status[1]), { message: "something went wrong", code: status[2] || null });
  const early = /^early-(.+)$/.exec(script);
  if (early) return stream([turn.event("response.created", turn.created), earlyError(String(early[1]))]);
  const late = /^late-failed-(.+)$/.exec(script);
  if (late) return stream([...turn.frames(turn.text("The rou"), reasons, false), failed(String(late[1]))]);
  const cut = /^(cut|short)-(\d+)$/.exec(script);
  if (cut)
    return {
      ...stream(turn.frames(turn.calls(["find"]), reasons).slice(0, Number(cut[2]))),
      ...(cut[1] === "cut" ? { end: "cut" as const } : {}),
    };
  switch (script) {
    case "text":
    case "mini":
      return stream(turn.frames(turn.text(okText), reasons));
    case "tool":
    case "tools": {
      const isAnswered = request.input.some((one) => "type" in one && one.type === "function_call_output");
      const names = (request.tools ?? []).map((tool) => tool.name);
      const calls = turn.calls(script === "tools" ? [...names, ...names] : names.slice(0, 1));
      return stream(turn.frames(isAnswered || names.length === 0 ? turn.text(okText) : calls, reasons));
    }
    case "endless": {
      const rounds = request.input.filter((one) => "type" in one && one.type === "function_call_output").length;
      return stream(turn.frames(rounds < 25 ? turn.calls(["find"]) : turn.text(okText), reasons));
    }
    case "malformed":
      return stream(turn.frames(turn.calls(["find"], '{"query": rout'), reasons));
    case "length":
      return stream([...turn.frames(turn.text("The rou"), reasons, false), turn.finished("incomplete", "max_output_tokens")]);
    case "length-early":
      return stream([...turn.frames([], reasons, false), turn.finished("incomplete", "max_output_tokens")]);
    case "length-call":
      return stream([...turn.frames(turn.calls(["find"]).slice(0, 2), reasons, false), turn.finished("incomplete", "max_output_tokens")]);
    case "filtered":
      return stream([...turn.frames(turn.text("The rou"), reasons, false), turn.finished("incomplete", "content_filter")]);
    case "refusal":
      return stream(turn.frames(turn.refusal("I cannot help with that."), reasons));
    case "unverified":
      return request.reasoning?.summary === undefined
        ? stream(turn.frames(turn.text(okText), reasons))
        : failure(400, {
            message: "Your organization must be verified to generate reasoning summaries.",
            code: "unsupported_value",
            param: "reasoning.summary",
          });
    case "late-error":
      return stream([...turn.frames(turn.text("The rou"), reasons, false), earlyError("server_error")]);
    case "hang":
      return { kind: "silence" };
    case "drip":
      return {
        ...stream(Array.from({ length: 500 }, (_, i) => turn.event("response.output_text.delta", { item_id: "msg_1", delta: `${i} ` }))),
        pauseMs: 20,
      };
    case "garbage":
      return stream([...turn.frames(turn.text("The rou"), reasons, false), "data: {nonsense\n\n"]);
    default:
      return failure(404, { message: `The model '${request.model}' does not exist`, code: "model_not_found" });
  }
}

interface Output {
  events: string[];
  before?: string | undefined;
}

/** One answer of the vendor, event by event, with events in between that are not known to anybody. */
function createTurn(request: ResponsesRequest, issued: Map<string, Issued>) {
  let sequence = 0;
  const nth = issued.size + 1;
  const event = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...more })}\n\n`;
  const created = { response: { id: `resp_${nth}`, created_at: 1_767_225_700, model: request.model, status: "in_progress" } };
  const usage = {
    input_tokens: 120,
    input_tokens_details: { cached_tokens: 100 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 30 },
    total_tokens: 160,
  };
  const finished = (status: "completed" | "incomplete", reason?: string) =>
    event(`response.${status}`, { response: { id: `resp_${nth}`, status, usage, incomplete_details: reason ? { reason } : null } });

  const reasoning = (before: string | undefined): string[] => {
    const id = `rs_${nth}`;
    const sealed = sealedAs(id);
    const summary = request.reasoning?.summary === undefined ? [] : ["**Look** at the notes.", "Then answer."];
    issued.set(id, { sealed, summary, before });
    return [
      event("response.output_item.added", { output_index: 0, item: { id, type: "reasoning", summary: [], encrypted_content: "early" } }),
      ...summary.flatMap((text, i) => [
        event("response.reasoning_summary_part.added", {
          item_id: id,
          output_index: 0,
          summary_index: i,
          part: { type: "summary_text", text: "" },
        }),
        event("response.reasoning_summary_text.delta", { item_id: id, output_index: 0, summary_index: i, delta: text }),
        event("response.reasoning_summary_part.done", {
          item_id: id,
          output_index: 0,
          summary_index: i,
          part: { type: "summary_text", text },
        }),
      ]),
      event("response.output_item.done", { output_index: 0, item: { id, type: "reasoning", summary, encrypted_content: sealed } }),
    ];
  };

  return {
    event,
    created,
    finished,
    frames: (outputs: readonly Output[], reasons: boolean, isFinished = true): string[] => [
      event("response.created", created),
      event("response.in_progress", created),
      event("response.never_heard_of", { anything: [1, { two: 3 }] }),
      ...(reasons ? reasoning(outputs[0]?.before) : []),
      ...outputs.flatMap(({ events }) => events),
      ...(isFinished ? [finished("completed")] : []),
    ],
    text: (text: string): Output[] => [{ events: messageEvents(event, `msg_${nth}`, { type: "output_text", text }) }],
    refusal: (text: string): Output[] => [{ events: messageEvents(event, `msg_${nth}`, { type: "refusal", text }) }],
    calls: (names: readonly string[], args = JSON.stringify({ query: lastText(request.input) })): Output[] =>
      names.map((name, i) => ({ events: callEvents(event, { name, args, id: `${nth}_${i}`, index: i + 1 }), before: `call_${nth}_${i}` })),
  };
}

type MakeEvent = (type: string, more: object) => string;

function messageEvents(event: MakeEvent, id: string, { type, text }: { type: "output_text" | "refusal"; text: string }): string[] {
  const half = Math.ceil(text.length / 2);
  const at = { item_id: id, output_index: 1, content_index: 0 };
  return [
    event("response.output_item.added", {
      output_index: 1,
      item: { id, type: "message", status: "in_progress", role: "assistant", content: [] },
    }),
    event("response.content_part.added", { ...at, part: { type, annotations: [] } }),
    event(`response.${type}.delta`, { ...at, delta: text.slice(0, half) }),
    event(`response.${type}.delta`, { ...at, delta: text.slice(half) }),
    event(`response.${type}.done`, { ...at, ...(type === "refusal" ? { refusal: text } : { text }) }),
    event("response.output_item.done", {
      output_index: 1,
      item: { id, type: "message", status: "completed", role: "assistant", content: [] },
    }),
  ];
}

function callEvents(event: MakeEvent, { name, args, id, index }: { name: string; args: string; id: string; index: number }): string[] {
  const item = { id: `fc_${id}`, type: "function_call", call_id: `call_${id}`, name };
  const at = { item_id: item.id, output_index: index };
  return [
    event("response.output_item.added", { output_index: index, item: { ...item, status: "in_progress", arguments: "" } }),
    event("response.function_call_arguments.delta", { ...at, delta: args.slice(0, 5) }),
    event("response.function_call_arguments.delta", { ...at, delta: args.slice(5) }),
    event("response.function_call_arguments.done", { ...at, arguments: args }),
    event("response.output_item.done", { output_index: index, item: { ...item, status: "completed", arguments: args } }),
  ];
}

function lastText(input: readonly InputItem[]): string {
  const last = input.findLast((one) => "role" in one && one.role === "user");
  const part = last && "role" in last && Array.isArray(last.content) ? last.content[0] : undefined;
  return part?.type === "input_text" ? part.text : "";
}

function stream(frames: readonly string[]): ModelServerAnswer & { kind: "stream" } {
  return { kind: "stream", type: "text/event-stream; charset=utf-8", frames };
}

function earlyError(code: string): string {
  return `event: error\ndata: ${JSON.stringify({ type: "error", sequence_number: 2, code, message: "something went wrong", param: null })}\n\n`;
}

function failed(code: string): string {
  const response = {
    id: "resp",
    status: "failed",
    error: { code, message: "something went wrong" },
    usage: null,
    incomplete_details: null,
  };
  return `event: response.failed\ndata: ${JSON.stringify({ type: "response.failed", sequence_number: 9, response })}\n\n`;
}

function json(body: unknown): ModelServerAnswer {
  return { kind: "json", status: 200, body };
}

function failure(status: number, error: { message: string; code?: string | null; param?: string | null }): ModelServerAnswer {
  const headers: Record<string, string> = status === 429 ? { "retry-after-ms": "1500", "retry-after": "9" } : {};
  return { kind: "json", status, body: { error: { type: "invalid_request_error", param: null, code: null, ...error } }, headers };
}
