import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { EMBEDDED_PROVIDER_ID, type ModelDelta, type ModelMessage, type ModelProvider, type ModelRequest, type Usage } from "svc/sdk";
import { writeAnswer } from "./answer.ts";
import { isSystemText, quoteEvents } from "./events.ts";
import { readSearchResult } from "./search-result.ts";

const SEARCH_TOOL = "memory_search";
/** Longer questions are pasted documents; their beginning says what is asked. */
const MAX_QUERY_CHARS = 1_000;
/** Acknowledgement of a heartbeat that needs no attention. */
const ACKNOWLEDGED = "HEARTBEAT_OK";
const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

/** The model of last resort: asks memory through the ordinary tool loop, then quotes what was found. It knows nothing of memory but the tool's answer. */
export function createRecallProvider(): ModelProvider {
  return {
    id: EMBEDDED_PROVIDER_ID,
    name: "Recall (no language model)",
    defaultModel: "recall",
    embedded: true,
    models: () => [{ id: "recall", name: "Recall", input: ["text"] }],
    available: () => ({ ok: true }),
    stream: (req, { signal }) => recall(req, signal),
  };
}

async function* recall(req: ModelRequest, signal: AbortSignal): AsyncIterable<ModelDelta> {
  const turn = currentTurn(req.messages);
  const found = turn.results.at(-1);
  const isHeartbeat = req.context.trigger === "heartbeat";
  if (!isHeartbeat && !found && turn.question !== "" && canSearch(req)) {
    throwIfAborted(signal);
    const id = `recall_${randomUUID()}`;
    yield { type: "toolCall", id, name: SEARCH_TOOL, argsDelta: JSON.stringify({ query: turn.question }) };
    yield { type: "toolCallEnd", id };
    yield { type: "usage", usage: noUsage };
    yield { type: "finish", reason: "tool_calls" };
    return;
  }
  const search = found ? readSearchResult(found.text, found.isError === true) : ({ kind: "no-tool" } as const);
  // The prompt of a heartbeat is an instruction, not a question that notes could answer.
  const said = isHeartbeat ? (turn.events ?? ACKNOWLEDGED) : writeAnswer(turn.question, search, req.context.notice);
  const text = isHeartbeat || turn.events === undefined ? said : `${turn.events}\n\n${said}`;
  for (const delta of words(text)) {
    throwIfAborted(signal);
    yield { type: "text", delta };
    await nextTurn();
  }
  throwIfAborted(signal);
  yield { type: "usage", usage: noUsage };
  yield { type: "finish", reason: "stop" };
}

interface Turn {
  question: string;
  /** Events that the gateway passed with the question, as text. */
  events: string | undefined;
  /** Answers of the search tool since the question. */
  results: Array<Extract<ModelMessage, { role: "tool" }>>;
}

function currentTurn(messages: ModelMessage[]): Turn {
  const at = messages.findLastIndex((m) => m.role === "user");
  const asked = messages[at];
  const texts = asked?.role === "user" ? asked.content.map((part) => (part.type === "text" ? part.text : "")) : [];
  const text = texts.map((part) => (isSystemText(part) ? "" : part)).join("\n");
  const results = messages.slice(at + 1).filter((m) => m.role === "tool" && m.name === SEARCH_TOOL);
  return { question: clip(text.trim()), events: quoteEvents(texts.filter(isSystemText)), results: results as Turn["results"] };
}

function canSearch(req: ModelRequest): boolean {
  return req.toolChoice !== "none" && req.tools.some((tool) => tool.name === SEARCH_TOOL);
}

function clip(text: string): string {
  return text.length <= MAX_QUERY_CHARS ? text : text.slice(0, MAX_QUERY_CHARS).replace(/[\ud800-\udbff]$/, "");
}

function words(text: string): string[] {
  return text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [];
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new DOMException("the run was aborted", "AbortError");
}
