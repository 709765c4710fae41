import type { MessageBlock, RunRequest } from "svc/sdk";
import { parseJson } from "svc/sdk/internal";
import { type AudioPart, type Content, readContent } from "./content.ts";
import { badRequest } from "./errors.ts";
import { checkPartCount } from "./item-limit.ts";
import type { WireMessage } from "./request.ts";
import type { MediaPart } from "./responses/content.ts";

type GivenTurn = NonNullable<RunRequest["history"]>[number];

/** `messages` as one turn of an agent. */
export interface Turn {
  system: string;
  history: GivenTurn[];
  /** Image addresses of earlier user turns, each with the turn of `history` it belongs to. */
  earlierImages: Array<{ turn: GivenTurn; address: string }>;
  /** Files of earlier user turns, each with the turn of `history` it belongs to. */
  earlierFiles: Array<{ turn: GivenTurn; part: MediaPart }>;
  message: string;
  /** Image addresses of the current user turn. */
  images: string[];
  /** Files and recordings of the current user turn. */
  files: MediaPart[];
  audio: AudioPart[];
  /** The current turn when it answers tool calls. */
  toolResults: Array<{ toolCallId: string; text: string }>;
  /** Path of a current tool result whose call is not among `messages`. */
  orphan: string | undefined;
}

/** Tool results that answer one turn; all of them enter the transcript in one commit. */
const MAX_TOOL_RESULTS = 1_000;

const onlyImages = "User sent image(s) with no text.";
const onlyFiles = "User sent file(s) with no text.";

/**
 * The last `user` or `tool` message is the current turn, earlier ones are history, `system` and `developer` texts extend the system prompt. Pure.
 * @throws {SvcError} `v1-bad-request`
 */
export function toTurn(messages: WireMessage[]): Turn {
  const entries = messages.map((message, i) => ({ message, path: `messages.${i}` }));
  const system = entries.filter(({ message }) => isSystem(message.role)).map(({ message, path }) => readContent(message, path).text.trim());
  const at = entries.findLastIndex(({ message }) => message.role === "user" || isResult(message.role));
  const current = entries[at];
  if (!current) throw badRequest("Missing user message in `messages`.");

  refusePrefill(entries.slice(at + 1));

  const first = isResult(current.message.role) ? entries.slice(0, at).findLastIndex(({ message }) => !isResult(message.role)) + 1 : at;
  const calls = new Calls();
  const earlier = entries.slice(0, first).flatMap(({ message, path }) => toHistory(message, path, calls));
  const base = {
    system: system.filter((text) => text !== "").join("\n\n"),
    history: earlier.map(({ turn }) => turn),
    earlierImages: earlier.flatMap(({ turn, images = [] }) => images.map((address) => ({ turn, address }))),
    earlierFiles: earlier.flatMap(({ turn, files = [] }) => files.map((part) => ({ turn, part }))),
  };
  if (!isResult(current.message.role)) return { ...base, ...toUserTurn(current.message, current.path), toolResults: [], orphan: undefined };
  if (at + 1 - first > MAX_TOOL_RESULTS)
    throw badRequest(`messages: ${at + 1 - first} tool results at the end; at most ${MAX_TOOL_RESULTS}.`);
  const results = entries.slice(first, at + 1).map(({ message, path }) => ({ path, ...readResult(message, path, calls) }));
  return {
    ...base,
    message: "",
    images: [],
    files: [],
    audio: [],
    toolResults: results.map(({ toolCallId, text }) => ({ toolCallId, text })),
    orphan: results.find(({ toolName }) => toolName === undefined)?.path,
  };
}

/** An answer that the model is to go on with would be dropped: agents have no way to do so. */
function refusePrefill(behind: ReadonlyArray<{ message: WireMessage; path: string }>): void {
  const prefill = behind.find(({ message }) => message.role === "assistant");
  if (!prefill) return;
  throw badRequest(`${prefill.path}: an assistant message at the end (prefill) is not supported; end with a user or tool message`);
}

function toUserTurn(message: WireMessage, path: string): Pick<Turn, "message" | "images" | "files" | "audio"> {
  const { text, ...media } = readContent(message, path);
  const shown = shownText({ text, ...media });
  if (shown === "") throw badRequest("Missing user message in `messages`.");
  return { message: shown, ...media };
}

/** Text of a user, or a placeholder for media without a word; empty for neither. */
function shownText({ text, images, files, audio }: Content): string {
  if (text.trim() !== "") return text;
  return images.length > 0 ? onlyImages : files.length + audio.length > 0 ? onlyFiles : "";
}

interface Earlier {
  turn: GivenTurn;
  images?: string[];
  files?: MediaPart[];
}

function toHistory(message: WireMessage, path: string, calls: Calls): Earlier[] {
  if (message.role === "user") {
    const { text, ...media } = readContent(message, path);
    const shown = shownText({ text, ...media }) || text;
    if (shown === "") return [];
    // Recordings are not sent again; the model reads a note.
    const audio = media.audio.map(({ mimeType }) => ({ type: "file" as const, mimeType, data: "" }));
    return [{ turn: { role: "user", content: [{ type: "text", text: shown }, ...audio] }, ...media }];
  }
  if (message.role === "assistant") {
    const { text } = readContent(message, path);
    const content: MessageBlock[] = [...(text === "" ? [] : [{ type: "text" as const, text }]), ...calls.read(message, path)];
    return content.length === 0 ? [] : [{ turn: { role: "assistant", content } }];
  }
  if (!isResult(message.role)) return [];
  const { toolCallId, toolName, text } = readResult(message, path, calls);
  const name = toolName === undefined ? {} : { toolName };
  return [{ turn: { role: "toolResult", content: [{ type: "text", text }], toolCallId, ...name } }];
}

/** An empty result is a result. The legacy role `function` names the tool instead of the call. */
function readResult(message: WireMessage, path: string, calls: Calls): { toolCallId: string; toolName: string | undefined; text: string } {
  const { text } = readContent(message, path);
  if (message.role === "function") {
    const name = requireString(message.name, `${path}.name`);
    return { toolCallId: calls.idOf(name) ?? `function_${name}`, toolName: calls.idOf(name) === undefined ? undefined : name, text };
  }
  const toolCallId = requireString(message.tool_call_id, `${path}.tool_call_id`);
  return { toolCallId, toolName: calls.nameOf(toolCallId), text };
}

/** The tool calls met so far, by id. */
class Calls {
  readonly #names = new Map<string, string>();
  readonly #latest = new Map<string, string>();

  nameOf(id: string): string | undefined {
    return this.#names.get(id);
  }

  /** The latest call of a tool. */
  idOf(name: string): string | undefined {
    const id = this.#latest.get(name);
    return id !== undefined && this.#names.get(id) === name ? id : undefined;
  }

  read(message: WireMessage, path: string): MessageBlock[] {
    const list = message.tool_calls ?? [];
    if (!Array.isArray(list)) throw badRequest(`${path}.tool_calls: expected array, received ${typeof list}`);
    checkPartCount(list, `${path}.tool_calls`);
    const calls = (list as unknown[]).map((call, i) => {
      const { id, function: fn } = asObject(call);
      return this.#add(requireString(id, `${path}.tool_calls.${i}.id`), fn, `${path}.tool_calls.${i}.function`);
    });
    if (message.function_call == null) return calls;
    return [...calls, this.#add(`function_${this.#names.size}`, message.function_call, `${path}.function_call`)];
  }

  #add(id: string, fn: unknown, path: string): MessageBlock {
    const name = requireString(asObject(fn).name, `${path}.name`);
    this.#names.set(id, name);
    this.#latest.set(name, id);
    return { type: "toolCall", id, name, arguments: parseArguments(asObject(fn).arguments) };
  }
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

function isSystem(role: string): boolean {
  return role === "system" || role === "developer";
}

function isResult(role: string): boolean {
  return role === "tool" || role === "function";
}

function requireString(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "")
    throw badRequest(`${path}: expected string, received ${value === "" ? "an empty one" : typeof value}`);
  return value;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
