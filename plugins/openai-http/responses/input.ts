import type { MessageBlock, RunRequest } from "svc/sdk";
import { parseJson } from "svc/sdk/internal";
import { badRequest } from "../errors.ts";
import { type ItemContent, type MediaPart, readItemContent } from "./content.ts";
import type { InputItem } from "./request.ts";

type GivenTurn = NonNullable<RunRequest["history"]>[number];

/** `input` as one turn of an agent. */
export interface ResponsesTurn {
  /** Texts of `system` and `developer` messages. */
  system: string[];
  history: GivenTurn[];
  message: string;
  /** Pictures and files of the current user turn. */
  media: MediaPart[];
  /** The current turn when it answers function calls. */
  toolResults: Array<{ toolCallId: string; text: string }>;
  /** Path of a current result whose call is not in `input`. */
  orphan: string | undefined;
}

/** Text of an earlier answer that `item_reference` names; undefined for one that is not known. */
export type ReferencedText = (itemId: string) => string | undefined;

/** Results that answer one turn; all of them enter the transcript in one commit. */
const MAX_RESULTS = 1_000;
/** Vendors make ids as long as they like; answers pass them on as they are. */
const MAX_CALL_ID_CHARS = 4_096;
const missing = "Missing user message in `input`.";
const placeholders = { image: "User sent image(s) with no text.", file: "User sent file(s) with no text." };
const anyType = { image: "image/*", file: "application/octet-stream" };

/** One item, read. Items that say nothing to an agent are gone. */
type Entry = { path: string } & (
  | { kind: "system"; text: string }
  | { kind: "user"; content: ItemContent }
  | { kind: "assistant"; text: string }
  | { kind: "call"; id: string; name: string; args: unknown }
  | { kind: "result"; id: string; text: string }
);

/**
 * The last `user` message, or the results of function calls at the end, are the current turn; earlier items are history. Pure.
 * @throws {SvcError} `v1-bad-request`
 */
export function toResponsesTurn(input: string | readonly InputItem[], referenced: ReferencedText = () => undefined): ResponsesTurn {
  const items: readonly InputItem[] = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  const read = items.flatMap((item, i) => readItem(item, `input.${i}`, referenced));
  const system = read.flatMap((entry) => (entry.kind === "system" && entry.text.trim() !== "" ? [entry.text.trim()] : []));
  const entries = read.filter(({ kind }) => kind !== "system");
  const at = entries.findLastIndex(({ kind }) => kind === "user" || kind === "result");
  const current = entries[at];
  if (!current) throw badRequest(missing);
  const after = entries[at + 1];
  if (after) throw badRequest(`${after.path}: expected a user message or a function_call_output after it`);

  const names = new Map(entries.flatMap((entry) => (entry.kind === "call" ? [[entry.id, entry.name] as const] : [])));
  if (current.kind === "user")
    return { system, history: toHistory(entries.slice(0, at), names), ...userTurn(current.content), toolResults: [], orphan: undefined };
  const first = entries.findLastIndex(({ kind }) => kind !== "result") + 1;
  const results = entries.slice(first).flatMap((entry) => (entry.kind === "result" ? [entry] : []));
  if (results.length > MAX_RESULTS) throw badRequest(`input: ${results.length} results at the end; at most ${MAX_RESULTS}`);
  return {
    system,
    history: toHistory(entries.slice(0, first), names),
    message: "",
    media: [],
    toolResults: results.map(({ id, text }) => ({ toolCallId: id, text })),
    orphan: results.find(({ id }) => !names.has(id))?.path,
  };
}

function userTurn({ text, media }: ItemContent): Pick<ResponsesTurn, "message" | "media"> {
  if (text.trim() === "" && media.length === 0) throw badRequest(missing);
  return { message: text.trim() === "" ? placeholderOf(media) : text, media };
}

function placeholderOf(media: readonly MediaPart[]): string {
  return media.some(({ kind }) => kind === "image") ? placeholders.image : placeholders.file;
}

/** @throws {SvcError} `v1-bad-request` */
function readItem(item: InputItem, path: string, referenced: ReferencedText): Entry[] {
  // Some clients leave the type out of messages and of references.
  const type = item.type ?? (item.role == null ? (typeof item.id === "string" ? "item_reference" : undefined) : "message");
  switch (type) {
    case "message":
      return readMessage(item, path);
    case "function_call": {
      const name = requireText(item.name, `${path}.name`);
      return [{ path, kind: "call", id: callIdOf(item, path), name, args: parseArguments(item.arguments) }];
    }
    case "function_call_output": {
      const { text, media } = readItemContent(item.output ?? "", `${path}.output`);
      return [
        {
          path,
          kind: "result",
          id: callIdOf(item, path),
          text: [text, ...media.map(({ kind }) => `[${kind}]`)].filter(Boolean).join("\n"),
        },
      ];
    }
    case "item_reference": {
      const text = referenced(requireText(item.id, `${path}.id`));
      return text === undefined || text === "" ? [] : [{ path, kind: "assistant", text }];
    }
    case "reasoning":
      return [];
  }
  const known = "message, function_call, function_call_output, item_reference or reasoning";
  throw badRequest(`${path}.type: expected ${known}${typeof type === "string" ? `, received "${type.slice(0, 64)}"` : ""}`);
}

function readMessage(item: InputItem, path: string): Entry[] {
  const content = readItemContent(item.content, `${path}.content`);
  switch (item.role) {
    case "system":
    case "developer":
      return [{ path, kind: "system", text: content.text }];
    case "user":
      return [{ path, kind: "user", content }];
    case "assistant":
      checkPhase(item.phase, `${path}.phase`);
      return content.text === "" ? [] : [{ path, kind: "assistant", text: content.text }];
  }
  throw badRequest(`${path}.role: expected user, assistant, system or developer`);
}

function checkPhase(phase: unknown, path: string): void {
  if (phase != null && phase !== "commentary" && phase !== "final_answer") throw badRequest(`${path}: expected commentary or final_answer`);
}

/** An answer and its calls are items of their own, and one turn of the agent. */
function toHistory(entries: readonly Entry[], names: ReadonlyMap<string, string>): GivenTurn[] {
  const history: GivenTurn[] = [];
  let turn: MessageBlock[] | undefined;
  const say = (block: MessageBlock) => {
    if (!turn) {
      turn = [];
      history.push({ role: "assistant", content: turn });
    }
    turn.push(block);
  };
  for (const entry of entries) {
    if (entry.kind === "assistant") say({ type: "text", text: entry.text });
    else if (entry.kind === "call") say({ type: "toolCall", id: entry.id, name: entry.name, arguments: entry.args });
    else {
      turn = undefined;
      if (entry.kind === "user") history.push(...userHistory(entry.content));
      if (entry.kind === "result") {
        const toolName = names.get(entry.id);
        const content = [{ type: "text" as const, text: entry.text }];
        history.push({ role: "toolResult", content, toolCallId: entry.id, ...(toolName === undefined ? {} : { toolName }) });
      }
    }
  }
  return history;
}

/** Pictures and files of earlier turns are not read again: each is a block without data, which a model reads as a note. */
function userHistory({ text, media }: ItemContent): GivenTurn[] {
  const shown = text.trim() === "" && media.length > 0 ? placeholderOf(media) : text;
  const notes = media.map(({ kind }) => ({ type: kind, mimeType: anyType[kind], data: "" }));
  return shown === "" ? [] : [{ role: "user", content: [{ type: "text", text: shown }, ...notes] }];
}

function callIdOf(item: InputItem, path: string): string {
  const id = requireText(item.call_id, `${path}.call_id`);
  if (id.length > MAX_CALL_ID_CHARS) throw badRequest(`${path}.call_id: expected at most ${MAX_CALL_ID_CHARS} characters`);
  return id;
}

/** Models write arguments as JSON text, not always well. */
function parseArguments(text: unknown): unknown {
  if (typeof text !== "string") return text ?? {};
  if (text.trim() === "") return {};
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function requireText(value: unknown, path: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw badRequest(`${path}: expected string, received ${value === "" ? "an empty one" : value === null ? "null" : typeof value}`);
}
