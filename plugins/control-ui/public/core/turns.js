import { texts } from "../texts/parts.js";
import { hitsOf } from "./places.js";

/**
 * From stored messages, running work and unsent messages to what a transcript shows. Pure.
 *
 * @typedef {{ type: string, text?: string, id?: string, name?: string, arguments?: unknown, mimeType?: string, fileName?: string,
 *   data?: string, redacted?: boolean }} Block
 * @typedef {{ role: string, content: string | Block[], timestamp: number, provider?: string, model?: string, aborted?: boolean,
 *   sender?: Sender, stopReason?: string, toolCallId?: string, toolName?: string, isError?: boolean, details?: unknown,
 *   __svc?: { id: string, seq: number, runId?: string, kind?: string } }} Message
 * @typedef {{ id: string, name?: string, channel?: string }} Sender
 * @typedef {{ kind: "image" | "file" | "text", name: string, type: string, content?: string }} Part `content`: base64, or the text; absent when it is not here
 * @typedef {{ kind: "user", id: string, text: string, images: number, files: string[], parts?: Part[], at: number, state?: "sending" | "sent" | "failed",
 *   error?: string, sender?: Sender }} UserItem
 * @typedef {{ kind: "system", id: string, about: "heartbeat" | "event" | "summary", text: string, at: number }} SystemItem
 * @typedef {{ kind: "text", id: string, text: string, at: number, isStreaming?: boolean }} TextItem
 * @typedef {{ kind: "reasoning", id: string, text: string, at: number, isStreaming?: boolean, isSealed?: boolean }} ReasoningItem
 * @typedef {{ kind: "tool", id: string, name: string, args: unknown, at: number, state: "running" | "ok" | "error" | "unknown", text?: string,
 *   progress?: string, details?: unknown, ms?: number }} ToolItem
 * @typedef {{ kind: "note", id: string, level: "info" | "bad", text: string, retry?: string }} NoteItem
 * @typedef {UserItem | SystemItem | TextItem | ReasoningItem | ToolItem | NoteItem} Item
 * @typedef {{ key: string, seq: number, items: Item[], model?: string, isLive: boolean, isStopping?: boolean, startedAt?: number,
 *   position?: number }} Turn `position`: it waits for a place among the runs; 1 is the next one
 * @typedef {{ runId: string, startedAt: number, items: Item[], state: "running" | "stopping" | "ended", note?: NoteItem, model?: string,
 *   position?: number }} LiveRun
 * @typedef {{ key: string, sessionKey: string, text: string, at: number, state: "sending" | "sent" | "failed", error?: string, retry?: boolean,
 *   files?: Part[] }} Outgoing
 */

/** @param {Message["content"]} content */
export function textOf(content) {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" && block.text ? [block.text] : [])).join("\n\n");
}

/** True for what a person wrote: the gateway puts heartbeats and events into a transcript under the same role. @param {Message} message */
export function isFromPerson({ role, __svc }) {
  return role === "user" && __svc?.kind !== "heartbeat" && __svc?.kind !== "system-event";
}

/** Key of the turn a stored message belongs to. @param {Message} message */
export function turnKeyOf({ __svc }) {
  return __svc?.runId ?? `m:${__svc?.id}`;
}

/**
 * Turns in the order of their first message. A run's messages stand together, whatever was stored between them; a run that is still
 * writing, and a message that is still on its way, are turns under the same key, so that nothing jumps when they are stored.
 * @param {{ messages: readonly Message[], live: readonly LiveRun[], outgoing: readonly Outgoing[] }} input
 * @returns {Turn[]}
 */
export function turnsOf({ messages, live, outgoing }) {
  /** @type {Map<string, Turn>} */
  const turns = new Map();
  const results = new Map(messages.flatMap((m) => (m.role === "toolResult" && m.toolCallId ? [[resultKey(m), m]] : [])));
  for (const message of messages) {
    if (message.role === "toolResult") continue;
    const turn = turnFor(turns, turnKeyOf(message), message.__svc?.seq ?? 0);
    turn.items.push(...itemsOf(message, results));
    if (message.model) turn.model = modelName(message);
  }
  for (const out of outgoing) addOutgoing(turns, out);
  for (const run of live) addLive(turns, run);
  return [...turns.values()];
}

/** @param {Map<string, Turn>} turns @param {string} key @param {number} seq */
function turnFor(turns, key, seq) {
  const known = turns.get(key);
  if (known) return known;
  /** @type {Turn} */
  const made = { key, seq, items: [], isLive: false };
  turns.set(key, made);
  return made;
}

/** Items of messages that stand for themselves: with each page of a long history all messages are gone through again. @type {WeakMap<Message, Item[]>} */
const knownItems = new WeakMap();

/** @param {Message} message @param {Map<string, Message>} results @returns {Item[]} */
function itemsOf(message, results) {
  const known = knownItems.get(message) ?? readItems(message, results);
  // The result of a tool call stands in another message.
  if (!known.some(({ kind }) => kind === "tool")) knownItems.set(message, known);
  return known;
}

/** @param {Message} message @param {Map<string, Message>} results @returns {Item[]} */
function readItems(message, results) {
  const id = message.__svc?.id ?? String(message.timestamp);
  const at = message.timestamp;
  const text = textOf(message.content);
  if (message.role === "user" && !isFromPerson(message)) {
    const isBeat = message.__svc?.kind === "heartbeat";
    return [{ kind: "system", id, about: isBeat ? "heartbeat" : "event", text: isBeat ? text : text.replace(/^System: ?/gm, ""), at }];
  }
  if (message.role === "user") {
    const { sender } = message;
    return [{ ...questionOf(message.content), id, at, ...(sender ? { sender } : {}) }];
  }
  // A text that models read in the place of older messages is nothing that the agent said.
  if (message.__svc?.kind === "compaction") return [{ kind: "system", id, about: "summary", text, at }];
  /** @type {Item[]} */
  const items = reasoningOf(message, id);
  if (text !== "") items.push({ kind: "text", id, text, at });
  for (const block of typeof message.content === "string" ? [] : message.content) {
    if (block.type === "toolCall") items.push(storedTool(block, message, results));
  }
  if (message.aborted) items.push({ kind: "note", id: `${id}:stopped`, level: "info", text: texts.stoppedLabel });
  if (message.stopReason === "error") items.push({ kind: "note", id: `${id}:error`, level: "bad", text: texts.answerInterruptedHere });
  return items;
}

/** Begins the text of a file that stands in a message. */
const fileHead = /^\[File(?: ([^\n]{1,255}))?\]\n/;

/** Text of a person, apart from the files that went with it. @param {Message["content"]} content @returns {Omit<UserItem, "id" | "at">} */
export function questionOf(content) {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  /** @type {Part[]} */
  const parts = [];
  const texts = blocks.flatMap((block) => {
    const part = partOf(block);
    if (part) parts.push(part);
    return !part && block.type === "text" && block.text ? [block.text] : [];
  });
  return { kind: "user", text: texts.join("\n\n"), ...countsOf(parts) };
}

/** @param {Block} block @returns {Part | undefined} */
function partOf({ type, text = "", mimeType = "", fileName, data }) {
  const content = data ? { content: data } : {};
  if (type === "image") return { kind: "image", name: fileName ?? texts.picture, type: mimeType, ...content };
  if (type === "file") return { kind: "file", name: fileName || mimeType || texts.file, type: mimeType, ...content };
  const head = type === "text" ? fileHead.exec(text) : null;
  return head ? { kind: "text", name: head[1] ?? texts.file, type: "text/plain", content: text.slice(head[0].length) } : undefined;
}

/** @param {Part[]} parts @returns {Pick<UserItem, "images" | "files" | "parts">} */
function countsOf(parts) {
  const files = parts.flatMap(({ kind, name }) => (kind === "image" ? [] : [name]));
  return { images: parts.length - files.length, files, ...(parts.length > 0 ? { parts } : {}) };
}

/** @param {Message} message @param {string} id @returns {Item[]} */
function reasoningOf({ content, timestamp }, id) {
  const blocks = typeof content === "string" ? [] : content.filter(({ type }) => type === "reasoning");
  if (blocks.length === 0) return [];
  const text = blocks.flatMap((block) => (block.text ? [block.text] : [])).join("\n\n");
  return [{ kind: "reasoning", id: `${id}:reasoning`, text, at: timestamp, isSealed: blocks.some(({ redacted }) => redacted === true) }];
}

/**
 * True for a question whose run ended without a last word, or in the middle of one, and of which nothing here says why.
 * @param {Turn} turn
 */
export function lacksReason({ key, items, isLive }) {
  const question = items.find((item) => item.kind === "user");
  if (isLive || !question || question.state || key.startsWith("m:")) return false;
  const last = items.at(-1);
  return last?.kind === "note" ? last.level === "bad" && last.retry === undefined : last?.kind !== "text";
}

/** @param {Block} block @param {Message} message @param {Map<string, Message>} results @returns {ToolItem} */
function storedTool(block, message, results) {
  const id = block.id ?? "";
  const result = results.get(`${message.__svc?.runId ?? ""}\n${id}`);
  /** @type {ToolItem} */
  const item = { kind: "tool", id, name: block.name ?? texts.tool, args: block.arguments, at: message.timestamp, state: "unknown" };
  if (!result) return item;
  return { ...item, state: result.isError ? "error" : "ok", text: textOf(result.content), details: result.details };
}

/** @param {Message} result */
function resultKey(result) {
  return `${result.__svc?.runId ?? ""}\n${result.toolCallId}`;
}

/** @param {Map<string, Turn>} turns @param {Outgoing} out */
function addOutgoing(turns, out) {
  const known = turns.get(out.key);
  if (known?.items.some((item) => item.kind === "user")) return;
  const turn = turnFor(turns, out.key, Number.MAX_SAFE_INTEGER);
  /** @type {UserItem} */
  const item = { kind: "user", id: out.key, text: out.text, ...countsOf(out.files ?? []), at: out.at, state: out.state };
  turn.items.unshift(out.error === undefined ? item : { ...item, error: out.error });
}

/** @param {Map<string, Turn>} turns @param {LiveRun} run */
function addLive(turns, run) {
  const turn = turnFor(turns, run.runId, Number.MAX_SAFE_INTEGER);
  for (const item of run.items) {
    const at = item.kind === "tool" ? turn.items.findIndex((i) => i.kind === "tool" && i.id === item.id) : -1;
    const stored = at < 0 ? undefined : turn.items[at];
    if (!stored) turn.items.push(item);
    else if (stored.kind === "tool" && stored.state === "unknown") turn.items[at] = item;
  }
  if (run.note) turn.items.push(run.note);
  turn.isLive = run.state !== "ended";
  turn.isStopping = run.state === "stopping";
  turn.startedAt = run.startedAt;
  if (run.position !== undefined) turn.position = run.position;
  if (run.model) turn.model = run.model;
}

/** @param {{ provider?: string, model?: string }} message */
function modelName({ provider, model }) {
  return !provider || provider === model ? (model ?? "") : `${provider}/${model}`;
}

/**
 * A run after one more `agent` (or `session.tool`) event. Unknown streams change nothing.
 * @param {LiveRun} run
 * @param {{ stream: string, ts: number, data: any }} event
 * @returns {LiveRun}
 */
export function withEvent(run, { stream, ts, data }) {
  if (stream === "assistant") return withText(run, { id: data.itemId ?? "text", text: String(data.text ?? ""), at: ts });
  if (stream === "reasoning") return withReasoning(run, { id: `${data.itemId}:reasoning`, text: String(data.text ?? ""), at: ts });
  if (stream === "tool" && data.phase === "update") return withProgress(run, data);
  if (stream === "tool" && data.phase === "start") {
    return withTool(run, { kind: "tool", id: data.toolCallId, name: data.name, args: data.args, at: ts, state: "running" });
  }
  if (stream === "tool" && data.phase === "result") return withResult(run, data, ts);
  if (stream === "lifecycle" && data.phase === "queued") return { ...run, position: data.position };
  if (stream === "lifecycle" && data.phase === "start") return begun(run, ts);
  if (stream === "lifecycle" && data.phase === "model") return { ...run, model: modelName(data) };
  return run;
}

/** The run has its place: from here on its time counts. @param {LiveRun} run @param {number} ts @returns {LiveRun} */
function begun({ position, ...run }, ts) {
  return position === undefined ? run : { ...run, startedAt: ts };
}

/** @param {LiveRun} run @param {{ id: string, text: string, at: number }} text @returns {LiveRun} */
function withText(run, { id, text, at }) {
  const i = run.items.findIndex((item) => item.kind === "text" && item.id === id);
  /** @type {TextItem} */
  const item = { kind: "text", id, text, at: run.items[i] && "at" in run.items[i] ? run.items[i].at : at, isStreaming: true };
  return { ...run, items: i < 0 ? [...run.items, item] : run.items.with(i, item) };
}

/** Thought before the text that it leads to. @param {LiveRun} run @param {{ id: string, text: string, at: number }} reasoning @returns {LiveRun} */
function withReasoning(run, reasoning) {
  const i = run.items.findIndex((item) => item.id === reasoning.id);
  /** @type {ReasoningItem} */
  const item = { kind: "reasoning", ...reasoning, isStreaming: true };
  return { ...run, items: i < 0 ? [...run.items, item] : run.items.with(i, item) };
}

/** @param {LiveRun} run @param {any} data @returns {LiveRun} */
function withProgress(run, { toolCallId, partialResult }) {
  const known = run.items.find((item) => item.kind === "tool" && item.id === toolCallId);
  if (known?.kind !== "tool" || known.state !== "running") return run;
  const progress = textOf(Array.isArray(partialResult?.content) ? partialResult.content : String(partialResult ?? ""));
  return withTool(run, { ...known, progress });
}

/** @param {LiveRun} run @param {ToolItem} tool @returns {LiveRun} */
function withTool(run, tool) {
  const i = run.items.findIndex((item) => item.kind === "tool" && item.id === tool.id);
  return { ...run, items: i < 0 ? [...run.items, tool] : run.items.with(i, tool) };
}

/** @param {LiveRun} run @param {any} data @param {number} ts @returns {LiveRun} */
function withResult(run, data, ts) {
  const known = run.items.find((item) => item.kind === "tool" && item.id === data.toolCallId);
  const started = known?.kind === "tool" ? known : undefined;
  return withTool(run, {
    kind: "tool",
    id: data.toolCallId,
    name: data.name,
    args: started?.args,
    at: started?.at ?? ts,
    state: data.isError ? "error" : "ok",
    text: Array.isArray(data.result?.content) ? textOf(data.result.content) : String(data.result ?? ""),
    details: data.result?.details,
    ...(started ? { ms: ts - started.at } : {}),
  });
}

/**
 * A run whose finished text was stored: what was streamed so far stands in the messages now.
 * @param {LiveRun} run
 * @returns {LiveRun}
 */
export function withoutText(run) {
  return { ...run, items: run.items.filter((item) => item.kind !== "text" && item.kind !== "reasoning") };
}

/**
 * Old and new messages as one list by id, oldest first; the newer copy of one message wins.
 * @param {readonly Message[]} known
 * @param {readonly Message[]} fresh
 * @returns {Message[]}
 */
export function mergeMessages(known, fresh) {
  if (isBefore(fresh, known)) return [...fresh, ...known];
  const byId = new Map(known.map((m) => [m.__svc?.id, m]));
  for (const message of fresh) byId.set(message.__svc?.id, message);
  return [...byId.values()].sort((a, b) => (a.__svc?.seq ?? 0) - (b.__svc?.seq ?? 0));
}

/** True for one page of the history further back. @param {readonly Message[]} page @param {readonly Message[]} known */
function isBefore(page, known) {
  const numbers = [...page, ...known.slice(0, 1)].map((message) => message.__svc?.seq ?? Number.NaN);
  return known.length > 0 && numbers.every((seq, i) => i === 0 || seq > (numbers[i - 1] ?? Number.NaN)) && !Number.isNaN(numbers[0]);
}

/**
 * Places found by the memory searches of a turn, for answers that cite none themselves.
 * @param {Turn} turn
 */
export function placesFound(turn) {
  return turn.items.flatMap((item) => (item.kind === "tool" && item.state === "ok" ? (hitsOf(item) ?? []) : []));
}
