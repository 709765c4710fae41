import { type ModelServer, type ModelServerAnswer, type ModelServerRequest, startModelServer } from "./model-server.ts";
import { checkOllamaRequest, type OllamaRequest } from "./ollama-chat-checks.ts";

export interface FakeOllamaOptions {
  /** Names in the list. */
  models?: string[];
  /** Tokens that models were made for, default 8,192. */
  contextLength?: number;
  /** Parameters of a model's own file. */
  parameters?: string;
  /** A key that a proxy before the server wants. */
  apiKey?: string;
  /** `levels`: knows no levels of thinking; `details`: knows nothing of `/api/show`. */
  old?: "levels" | "details";
  seed?: number;
}

export interface FakeOllama extends ModelServer {
  /** Models in memory with the window they were loaded with; loads so far. */
  loaded: Map<string, number>;
  loads(): number;
}

export const okText = "The router stands in the hall cupboard. Ünï→☂";
export const thought = "Let me look. 🤔";
/** Lines of an answer with a thought and a call, the last one included. */
export const CALL_LINES = 4;

const abilities: Readonly<Record<string, string>> = { t: "tools", k: "thinking", v: "vision" };

/**
 * A loopback Ollama server. The name of a model says what it can and does: `tk-tool` takes tools and thinks, and calls a tool; `x-text` can neither;
 * `embed-…` only embeds.
 */
export async function startFakeOllama(options: FakeOllamaOptions = {}): Promise<FakeOllama> {
  const { models = ["tk-text", "x-text", "embed-text"], contextLength = 8_192, parameters = "" } = options;
  const loaded = new Map<string, number>();
  let loads = 0;

  function chat(body: unknown): ModelServerAnswer {
    const checked = checkOllamaRequest(body);
    if ("problem" in checked) return failure(400, checked.problem);
    const { request } = checked;
    const can = capabilitiesOf(request.model);
    if (can === undefined) return failure(404, `model '${request.model}' not found`);
    if (request.tools && !can.includes("tools")) return failure(400, `registry.ollama.ai/library/${request.model} does not support tools`);
    if (request.think && !can.includes("thinking")) return failure(400, `"${request.model}" does not support thinking`);
    if (options.old === "levels" && typeof request.think === "string")
      return failure(400, `invalid think value: "${request.think}" (must be true or false)`);
    if (loaded.get(request.model) !== request.options.num_ctx) loads++;
    loaded.set(request.model, request.options.num_ctx);
    if (JSON.stringify(request.messages).length / 4 > request.options.num_ctx)
      return failure(400, "the input length exceeds the context length");
    return play(request);
  }

  function answer(request: ModelServerRequest): ModelServerAnswer {
    if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) return failure(401, "unauthorized");
    switch (`${request.method} ${request.path}`) {
      case "GET /api/tags":
        return json({ models: models.map((name) => ({ name, model: name, size: 1, digest: "d", details: { family: "fake" } })) });
      case "POST /api/show":
        return options.old === "details" ? failure(404, undefined) : show(request.body);
      case "POST /api/chat":
        return chat(request.body);
      default:
        return failure(404, undefined);
    }
  }

  function show(body: unknown): ModelServerAnswer {
    const { model } = body as { model: string };
    const capabilities = capabilitiesOf(model);
    if (!capabilities) return failure(404, `model '${model}' not found`);
    return json({
      capabilities,
      parameters,
      model_info: { "general.architecture": "fake", "fake.context_length": contextLength },
      license: "L",
    });
  }

  const server = await startModelServer(answer, options.seed);
  return { ...server, loaded, loads: () => loads };
}

/** Undefined for a model that is not there. */
function capabilitiesOf(model: string): string[] | undefined {
  const [kind = ""] = model.split("-");
  if (kind === "embed") return ["embedding"];
  if (!/^(x|[tkv]+)$/.test(kind)) return undefined;
  return ["completion", ...[...kind].flatMap((letter) => abilities[letter] ?? [])];
}

function play(request: OllamaRequest): ModelServerAnswer {
  const script = request.model.replace(/^\w+-/, "");
  const status = /^status-(\d+)-?(.*)$/.exec(script);
  if (status) return failure(Number(status[1]), status[2]?.replaceAll("_", " ") || "something went wrong");
  const cut = /^(cut|short)-(\d+)$/.exec(script);
  const thinking = request.think
    ? [chunk({ content: "", thinking: thought.slice(0, 6) }), chunk({ content: "", thinking: thought.slice(6) })]
    : [];
  const text = [chunk({ content: okText.slice(0, 9) }), chunk({ content: okText.slice(9) })];
  const answered = request.messages.filter(({ role }) => role === "tool").length;
  if (cut) return stream([...thinking, calls(request, 1), end("stop")].slice(0, Number(cut[2])), cut[1] === "cut" ? { end: "cut" } : {});
  switch (script) {
    case "text":
      return stream([...thinking, ...text, end("stop")]);
    case "tool":
    case "tools":
      return stream([...thinking, ...(answered > 0 || !request.tools ? text : [calls(request, script === "tool" ? 1 : 2)]), end("stop")]);
    case "endless":
      return stream([...thinking, ...(answered < 25 ? [calls(request, 1)] : text), end("stop")]);
    case "malformed":
      return stream([chunk({ content: "", tool_calls: [{ function: { name: "find", arguments: '{"query": rout' } }] }), end("stop")]);
    case "length":
      return stream([chunk({ content: "The rou" }), end("length")]);
    case "unloaded":
      return stream([chunk({ content: "The rou" }), end("unload")]);
    case "before":
      return stream([...text, end(undefined)]);
    case "late":
      return stream([chunk({ content: "The rou" }), `${JSON.stringify({ error: "llama runner process has terminated" })}\n`]);
    case "late-busy":
      return stream([`${JSON.stringify({ error: "server busy, please try again.  maximum pending requests exceeded" })}\n`]);
    case "garbage":
      return stream([chunk({ content: "The rou" }), "{nonsense\n"]);
    case "flood":
      return stream([`{"message":{"role":"assistant","content":"${"x".repeat(2 * 1024 * 1024)}"}}\n`]);
    case "many":
      return stream([...Array.from({ length: 4_000 }, (_, i) => chunk({ content: `${i},` })), end("stop")]);
    case "hang":
      return { kind: "silence" };
    case "drip":
      return { ...stream(Array.from({ length: 500 }, (_, i) => chunk({ content: `${i} ` }))), pauseMs: 20 };
    default:
      return failure(404, `model '${request.model}' not found`);
  }
}

function calls(request: OllamaRequest, count: number): string {
  const name = request.tools?.[0]?.function.name ?? "find";
  const query = request.messages.findLast(({ role }) => role === "user")?.content;
  // Newer servers give ids, older ones do not.
  const made = Array.from({ length: count }, (_, index) => ({
    ...(index === 0 ? {} : { id: "call_abc" }),
    function: { index, name, arguments: { query } },
  }));
  return chunk({ content: "", tool_calls: made });
}

function chunk(message: object): string {
  return `${JSON.stringify({ model: "m", created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", ...message }, done: false, later: 1 })}\n`;
}

function end(reason: string | undefined): string {
  const counts = { total_duration: 1, load_duration: 1, prompt_eval_count: 26, eval_count: 12 };
  return `${JSON.stringify({ model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: reason, ...counts })}\n`;
}

function stream(frames: string[], more: { end?: "cut" } = {}): ModelServerAnswer & { kind: "stream" } {
  return { kind: "stream", type: "application/x-ndjson", frames, ...more };
}

function json(body: unknown): ModelServerAnswer {
  return { kind: "json", status: 200, body };
}

/** Without a text: the page of a path that is not there. */
function failure(status: number, error: string | undefined): ModelServerAnswer {
  return { kind: "json", status, body: error === undefined ? "404 page not found" : { error } };
}
