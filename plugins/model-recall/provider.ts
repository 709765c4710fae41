import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  EMBEDDED_PROVIDER_ID,
  type ModelDelta,
  type ModelMessage,
  type ModelProvider,
  type ModelRequest,
  stripFrames,
  type Usage,
} from "svc/sdk";
import { choosePassages, type Passage } from "./passages.ts";
import { readSearchResult, type Search } from "./search-result.ts";

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

const howToAddModel =
  "No language model is configured, so svc can only quote your notes; to get written answers, add a provider under `models.providers.<vendor>` in the config file or set an API key such as `OPENAI_API_KEY` in the environment.";

/** The whole answer as Markdown: what was found (or why nothing was), then why no language model answers, or how to add one. @param notice see `ModelRequest` */
function writeAnswer(question: string, search: Search, notice?: string): string {
  const why = notice && `No language model can answer (${notice}), so svc can only quote your notes; \`svc doctor\` says what to do.`;
  return `${body(question, search)}\n\n${why ?? howToAddModel}`;
}

function body(question: string, search: Search): string {
  if (search.kind === "no-tool") {
    return question === ""
      ? "There was no question to look up."
      : "The memory search is not available to this agent, so there is nothing to answer from.";
  }
  if (search.kind === "failed")
    return `The memory search did not work: ${search.reason.replace(/\.$/, "")}.${search.action ? ` ${search.action}` : ""}`;
  const passages = search.hits.length === 0 ? [] : choosePassages(question, search.hits, search.keywordsOnly);
  if (passages.length === 0)
    return `There is nothing about this in the notes of this agent.${search.partial ? " The search ran out of time, so it is worth asking again." : ""}`;
  return [
    passages.length === 1 ? "This is in your notes:" : "These passages are in your notes, the closest first:",
    ...passages.map(quote),
  ].join("\n\n");
}

/** A block quote, and below it the footer on a line of its own that user interfaces read. */
function quote(passage: Passage): string {
  const lines = passage.lines.map((line) => `> ${asQuoted(line)}`.trimEnd()).join("\n");
  return passage.citation === undefined ? lines : `${lines}\n\nSource: ${passage.citation}`;
}

/** Headings of a note are not headings of the answer. */
function asQuoted(line: string): string {
  const mark = /^#{1,6}\s+/.exec(line)?.[0];
  if (mark === undefined) return line;
  return `**${line
    .slice(mark.length)
    .replace(/(?<!#)#+$/, "")
    .trimEnd()}**`;
}

const HEAD = /^System: ?/;
/** A prompt holds up to twenty events of up to 16,000 characters; an answer names that many lines, cut to this length. */
const MAX_LINES = 40;
const MAX_LINE_CHARS = 300;

/** True for a part of a message that the gateway wrote: it is no question. */
function isSystemText(text: string): boolean {
  return text.startsWith("System: ");
}

/** System events as a block quote; undefined when there are none. */
function quoteEvents(texts: readonly string[]): string | undefined {
  const lines = texts
    .flatMap((text) => stripFrames(text).split("\n"))
    .map((line) => line.replace(HEAD, "").trim())
    .filter((line) => line !== "" && line !== "System:");
  if (lines.length === 0) return undefined;
  const shown = lines.slice(0, MAX_LINES).map((line) => (line.length > MAX_LINE_CHARS ? `${cut(line)}…` : line));
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more ${more === 1 ? "line" : "lines"}`] : [])].map((line) => `> ${line}`).join("\n");
}

function cut(line: string): string {
  return line.slice(0, MAX_LINE_CHARS).replace(/[\ud800-\udbff]$/, "");
}
