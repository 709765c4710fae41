import { type AssistantPart, type MessageBlock, type MessageRow, oneLine, type UserPart } from "svc/sdk";
import { SYSTEM_EVENTS_KIND } from "../heartbeat/system-lines.ts";
import { contextOf } from "../sessions/sender.ts";
import { addRow, madeFromRow } from "../traces/source.ts";
import { pictureSize } from "./picture-size.ts";
import { contextParts, type PromptMessage, type UserImage } from "./replay-to-model.ts";
import { messageTokens } from "./tokens.ts";

/** Result of a call whose own was never stored: nobody knows how far it came. */
export const NO_RESULT =
  "(interrupted: the run ended before this call's result was stored; it may have had its effect, so check before you call it again)";

/**
 * Rows in the order in which a model should read them. Messages are stored when they are accepted, so a message that waited for a busy
 * session stands before the answer to the one it waited for. Here the rows of each turn stand together, and the present turn comes last.
 *
 * @param present run whose turn it is
 * @param turnOf the run whose turn a run's rows belong to; undefined for rows that are left out, as those of runs that still wait
 */
export function orderByRun(rows: readonly MessageRow[], present: string, turnOf: (runId: string) => string | undefined): MessageRow[] {
  const groups = new Map<string, MessageRow[]>();
  for (const [i, row] of rows.entries()) {
    const id = row.runId === undefined ? `#${i}` : turnOf(row.runId);
    if (id === undefined) continue;
    const group = groups.get(id);
    if (group) group.push(row);
    else groups.set(id, [row]);
  }
  const own = groups.get(present) ?? [];
  groups.delete(present);
  return [...groups.values(), own].flat();
}

/**
 * Rows as a vendor wants them: every call has exactly one result right behind it, and no result stands alone.
 * @param present runs of the present turn
 * @param countedAfter sequence number behind which the tokens that rows tell are those of the prompt as it is
 * @param turnOf as for `orderByRun`: messages that share a turn are read as one, in every later turn too
 */
export function toModelMessages(
  rows: readonly MessageRow[],
  present: ReadonlySet<string>,
  { countedAfter = 0, turnOf = (runId) => runId }: { countedAfter?: number; turnOf?: (runId: string) => string | undefined } = {},
): PromptMessage[] {
  const isSameTurn = (before: MessageRow | undefined, row: MessageRow) =>
    (isOf(row, present) && isOf(before, present)) ||
    (row.runId !== undefined && before?.runId !== undefined && turnOf(before.runId) === turnOf(row.runId));
  const out: PromptMessage[] = [];
  const results = new Results(rows);
  const shown = picturesWithin(rows, present);
  for (const [i, row] of rows.entries()) {
    if (row.role === "toolResult") continue;
    if (row.role === "user") {
      const content = userParts(row, shown);
      const joins = rows[i - 1]?.kind === SYSTEM_EVENTS_KIND || isSameTurn(rows[i - 1], row);
      const before = joins ? out.at(-1) : undefined;
      // Not every vendor takes two messages of a user in a row.
      if (before?.role === "user") {
        for (const block of content) before.content.push(block);
        addRow(before, row.seq);
      } else out.push(madeFromRow({ role: "user", content }, row.seq));
      continue;
    }
    const content = answerParts(row);
    if (content.every(({ type }) => type === "reasoning")) continue;
    out.push(madeFromRow({ role: "assistant", content, ...writerOf(row, countedAfter) }, row.seq));
    const toolCalls = content.flatMap((part) => (part.type === "toolCall" ? [part] : []));
    for (const call of toolCalls) {
      // Some vendors number their calls anew in each turn: the next free result after the call is meant.
      const result = results.take(call.id, i);
      out.push(madeFromRow(toolMessage(call, result, shown), result?.seq));
    }
  }
  return out;
}

function writerOf({ provider, model, usage, seq }: MessageRow, countedAfter: number): Pick<PromptMessage, "writtenBy" | "usedTokens"> {
  return {
    ...(provider === undefined || model === undefined ? {} : { writtenBy: { provider, model } }),
    ...(usage && usage.total > 0 && seq > countedAfter ? { usedTokens: usage.total } : {}),
  };
}

/** The results among `rows`, in order, each handed out once. */
class Results {
  readonly #byCall = new Map<string, { rows: Array<{ row: MessageRow; at: number }>; next: number }>();

  constructor(rows: readonly MessageRow[]) {
    for (const [at, row] of rows.entries()) {
      if (row.role !== "toolResult" || row.toolCallId === undefined) continue;
      const list = this.#byCall.get(row.toolCallId);
      if (list) list.rows.push({ row, at });
      else this.#byCall.set(row.toolCallId, { rows: [{ row, at }], next: 0 });
    }
  }

  /** The first free result behind row `after`. Calls come in the order of their rows, so what stands before it is never wanted again. */
  take(callId: string, after: number): MessageRow | undefined {
    const list = this.#byCall.get(callId);
    if (!list) return undefined;
    while ((list.rows[list.next]?.at ?? Number.POSITIVE_INFINITY) <= after) list.next += 1;
    const found = list.rows[list.next];
    if (found) list.next += 1;
    return found?.row;
  }
}

function isOf(row: MessageRow | undefined, runs: ReadonlySet<string>): boolean {
  return row?.runId !== undefined && runs.has(row.runId);
}

function toolMessage(call: { id: string; name: string }, result: MessageRow | undefined, shown: ReadonlySet<Picture>): PromptMessage {
  const base = { role: "tool" as const, toolCallId: call.id, name: call.name };
  if (!result) return { ...base, text: NO_RESULT, isError: true };
  return { ...base, ...resultContent(result.content, shown), ...(result.isError ? { isError: true } : {}) };
}

/** Content of a result as models take it. @param shown pictures that are sent; absent: all */
export function resultContent(content: readonly MessageBlock[], shown?: ReadonlySet<Picture>): { text: string; images?: UserImage[] } {
  const images: UserImage[] = [];
  const texts = content.flatMap((block) => {
    if (block.type === "text") return [block.text];
    if (block.type !== "image") return [];
    if (block.data === "" || (shown && !shown.has(block))) return [noteOf(block)];
    images.push({ type: "image", mimeType: block.mimeType, data: block.data });
    return [];
  });
  return { text: texts.join("\n"), ...(images.length === 0 ? {} : { images }) };
}

/** The parts of a stored answer. One that was cut off keeps its text: its reasoning is not whole, and its vendor would refuse it. */
export function answerParts({ content, aborted, stopReason }: MessageRow): AssistantPart[] {
  const isCut = aborted === true || stopReason === "error";
  return content.flatMap((block): AssistantPart[] => {
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [isCut ? { type: "text", text: block.text } : block];
      case "reasoning":
        return isCut ? [] : [block];
      case "toolCall": {
        const { id, name, meta } = block;
        return [{ type: "toolCall", id, name, args: objectOf(block.arguments), ...(meta ? { meta } : {}) }];
      }
      default:
        return [];
    }
  });
}

/** Arguments as a vendor takes them back: those that were no JSON object are left out. */
function objectOf(args: unknown): unknown {
  return typeof args === "object" && args !== null ? args : {};
}

/**
 * All messages if they fit into `maxTokens`, however they begin; else the newest that do, beginning at a user message. The last turn stays whole whatever its
 * size.
 */
export function fitMessages(messages: readonly PromptMessage[], maxTokens: number): PromptMessage[] {
  let left = maxTokens;
  let from = messages.length;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i];
    if (!message) break;
    left -= messageTokens(message);
    if (left < 0 && from < messages.length) return messages.slice(from);
    if (message.role === "user") from = i;
  }
  return [...messages];
}

/** Messages from the first one of a user on; all of them when there is none. */
export function fromFirstUser<T extends { role: string }>(messages: readonly T[]): readonly T[] {
  const first = messages.findIndex(({ role }) => role === "user");
  return first <= 0 ? messages : messages.slice(first);
}

export function textOf(content: readonly MessageBlock[]): string {
  return content.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n");
}

export function callsOf(content: readonly MessageBlock[]): Array<{ id: string; name: string; args: unknown }> {
  return content.flatMap((b) => (b.type === "toolCall" ? [{ id: b.id, name: b.name, args: b.arguments }] : []));
}

type Picture = Extract<MessageBlock, { type: "image" | "file" }>;

/** Pictures and files of earlier turns that are sent again: the newest, so many and as large together. */
const MAX_EARLIER_PICTURES = 8;
/** Longest name of a file in such a note. */
const MAX_NAME_CHARS = 100;
const MAX_EARLIER_BYTES = 20 * 1024 * 1024;

/** The pictures and files a model gets to see: all of the present turn, and of the earlier ones the newest within budget. */
function picturesWithin(rows: readonly MessageRow[], present: ReadonlySet<string>): ReadonlySet<Picture> {
  const shown = new Set<Picture>();
  let [count, bytes] = [MAX_EARLIER_PICTURES, MAX_EARLIER_BYTES];
  const seen = new Set<string>();
  for (const row of rows.toReversed()) {
    if (row.role === "assistant") continue;
    for (const picture of row.content.toReversed()) {
      if ((picture.type !== "image" && picture.type !== "file") || picture.data === "") continue;
      if (isOf(row, present) && row.role === "user") {
        shown.add(picture);
        continue;
      }
      // The same picture is sent once, where it was seen last.
      if (seen.has(picture.data)) continue;
      seen.add(picture.data);
      count -= 1;
      bytes -= (picture.data.length * 3) / 4;
      if (count < 0 || bytes < 0) return shown;
      shown.add(picture);
    }
  }
  return shown;
}

/**
 * Content of a row of the user's side as a model reads it: the line of its time and place, then what was said.
 *
 * @param shown pictures and files that are sent; absent: all
 */
export function userParts(row: MessageRow, shown?: ReadonlySet<Picture>): UserPart[] {
  return [...contextParts(contextOf(row)), ...userContent(row.content, shown)];
}

/** @param shown as of `userParts` */
export function userContent(content: readonly MessageBlock[], shown?: ReadonlySet<Picture>): UserPart[] {
  return content.flatMap((b): UserPart[] => {
    if (b.type === "text") return b.text === "" ? [] : [{ type: "text", text: b.text }];
    if (b.type !== "image" && b.type !== "file") return [];
    return b.data !== "" && (!shown || shown.has(b)) ? [b] : [{ type: "text", text: noteOf(b) }];
  });
}

/** Note in the place of a picture or a file that is not sent again. */
function noteOf(block: Picture): string {
  if (block.type === "file") return block.fileName === undefined ? "[file]" : `[file ${oneLine(block.fileName, MAX_NAME_CHARS)}]`;
  const size = pictureSize(block);
  return size ? `[image ${size.width}x${size.height}]` : "[image]";
}
