import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageRow, Store } from "svc/sdk";
import type { PromptMessage } from "../runs/replay-to-model.ts";
import { answerParts, resultContent, textOf, userParts } from "../runs/transcript.ts";
import { SUMMARY_HEAD } from "../sessions/compaction.ts";
import { isGiven, isLiteral } from "./make-trace.ts";
import { charsOf } from "./run-trace.ts";
import type { ComposedMessage, GivenMessages, LiteralMessage, StoredAttempt, StoredMessage, StoredTrace } from "./stored-trace.ts";

/** Rows that are read with others although nobody asked for them, rather than in a reading of their own. */
const GAP_ROWS = 20;
const PAGE_ROWS = 200;
/** Of one reading: a few milliseconds. */
const PAGE_BYTES = 1024 * 1024;
/** Rows behind the prompt that are looked at for those of the run. */
const MAX_OWN_ROWS = 3_000;
/** Rows that were stored so long after its end are not the run's. */
const AFTER_MS = 60_000;

/** A message of a prompt as it was sent. */
export interface RebuiltMessage {
  message: PromptMessage;
  /** Pictures and files that went with it. */
  media: number;
  /** Some of its text is no longer stored. */
  isCut: boolean;
}

/** Messages of one request. */
export interface RebuiltPrompt {
  messages: RebuiltMessage[];
  /** Differences from what was sent, in words; empty: there are none. */
  notes: string[];
}

export type Rows = ReadonlyMap<number, MessageRow>;

/** Rows of a transcript by number, as far as they are there. */
export async function readRows({ messages }: Pick<Store, "messages">, sessionId: string, wanted: Iterable<number>): Promise<Rows> {
  const seqs = [...new Set(wanted)].sort((a, b) => a - b);
  const found = new Map<number, MessageRow>();
  for (let at = 0; at < seqs.length; ) {
    const first = seqs[at] as number;
    while (at + 1 < seqs.length && (seqs[at + 1] as number) - (seqs[at] as number) <= GAP_ROWS) at += 1;
    const last = seqs[at] as number;
    for (let after = first - 1; after < last; ) {
      const page = await messages.scan(sessionId, after, Math.min(PAGE_ROWS, last - after), { maxBytes: PAGE_BYTES });
      if (page.length === 0) break;
      for (const row of page) found.set(row.seq, row);
      after = page.at(-1)?.seq ?? last;
      await nextTurn();
    }
    at += 1;
  }
  return found;
}

/** Numbers of the rows that a list of messages was made from. */
export function rowsOf(messages: readonly StoredMessage[]): number[] {
  return messages.flatMap((message) => {
    if (typeof message === "number") return [message];
    if (isPair(message)) return Array.from({ length: message[1] - message[0] + 1 }, (_, i) => message[0] + i);
    if (isLiteral(message) || isGiven(message)) return [];
    return [...(message.rows ?? []), ...(message.notes ?? []).filter((note) => typeof note === "number")];
  });
}

/** Rows that the run itself has stored, and its messages and those that joined it, oldest first. */
export async function ownRows(store: Pick<Store, "messages">, trace: StoredTrace, rows: Rows): Promise<MessageRow[]> {
  const ids = new Set([trace.runId, ...(trace.joined ?? [])]);
  const isOwn = ({ runId }: MessageRow) => runId !== undefined && ids.has(runId);
  const asked = [...rows.values()].filter(isOwn).map(({ seq }) => seq);
  const from = asked.length > 0 ? Math.min(...asked) - 1 : undefined;
  if (from === undefined) return (await store.messages.page(trace.sessionId, { limit: PAGE_ROWS })).filter(isOwn);
  const own: MessageRow[] = [];
  for (let after = from; after < from + MAX_OWN_ROWS; ) {
    const page = await store.messages.scan(trace.sessionId, after, PAGE_ROWS, { maxBytes: PAGE_BYTES });
    own.push(...page.filter(isOwn));
    const last = page.at(-1);
    if (!last || last.ts > trace.endedAt + AFTER_MS) break;
    after = last.seq;
    await nextTurn();
  }
  return own;
}

/** The messages of one request, from the rows that they were made from. Pure. */
export function rebuildPrompt(
  trace: StoredTrace,
  attempt: Pick<StoredAttempt, "list" | "messages">,
  { rows, own }: { rows: Rows; own: readonly MessageRow[] },
): RebuiltPrompt {
  const list = trace.lists[attempt.list] ?? { messages: [], chars: 0 };
  const all = list.messages.flatMap(singles).map((part) => rebuiltFrom(part, { rows, own }));
  const messages = all.slice(0, attempt.messages);
  const count = (is: (one: Rebuilt) => boolean) => messages.filter(is).length;
  const [given, cut] = [count(({ isGiven }) => isGiven === true), count(({ isCut, isGiven }) => isCut && !isGiven)];
  const isChanged = all.every(({ isCut, isGiven }) => !isCut || isGiven) && all.reduce((sum, { chars }) => sum + chars, 0) !== list.chars;
  const of = `of ${attempt.messages} messages`;
  const notes = [
    ...(all.length < attempt.messages ? ["the messages are not stored: there was no room for them in the trace"] : []),
    ...(given > 0 ? [`${given} ${of} came with the request of the caller, which keeps them, and are not stored`] : []),
    ...(cut > 0 ? [`${cut} ${of} are not stored in full any more`] : []),
    ...(isChanged ? ["the transcript does not hold what was sent: messages were left out or shortened since"] : []),
  ];
  return { messages: messages.map(({ message, media, isCut }) => ({ message, media, isCut })), notes };
}

interface Rebuilt extends RebuiltMessage {
  /** Characters that come from rows. */
  chars: number;
  isGiven?: true;
}

type Single = number | ComposedMessage | LiteralMessage | GivenMessages;

/** Each message by itself. */
function singles(message: StoredMessage): Single[] {
  if (isPair(message)) return rowsOf([message]);
  if (typeof message !== "number" && isGiven(message)) return [...message.given].map((role) => ({ given: role }));
  return [message as Single];
}

function rebuiltFrom(part: Single, from: { rows: Rows; own: readonly MessageRow[] }): Rebuilt {
  if (isGiven(part)) return { message: emptyOf(part.given), media: 0, isCut: true, chars: 0, isGiven: true };
  if (isLiteral(part)) return { message: part.literal, media: 0, isCut: part.cut === true, chars: 0 };
  const composed: ComposedMessage = typeof part === "number" ? { rows: [part] } : part;
  const { media = 0, notes = [] } = composed;
  const made = composedMessage(composed, from);
  if (!made) return { message: emptyOf("u"), media, isCut: true, chars: 0 };
  const added = notes.reduce<number>((sum, note) => sum + (typeof note === "string" ? note.length : 0), 0);
  return { message: made, media, isCut: false, chars: charsOf(made) - added };
}

/** In the place of a message that is not stored. */
function emptyOf(role: string): PromptMessage {
  if (role === "t") return { role: "tool", toolCallId: "", name: "", text: "" };
  return { role: role === "a" ? "assistant" : "user", content: [] };
}

function isPair(message: StoredMessage): message is readonly [number, number] {
  return Array.isArray(message);
}

function composedMessage(
  { rows: seqs = [], notes = [], run, media = 0 }: ComposedMessage,
  { rows, own }: { rows: Rows; own: readonly MessageRow[] },
): PromptMessage | undefined {
  const of = run === undefined ? seqs.map((seq) => rows.get(seq)) : own.filter((row) => row.runId === run && row.role === "user");
  const found = of.filter((row) => row !== undefined);
  const texts = notes.map((note) => (typeof note === "string" ? note : summaryOf(rows.get(note))));
  const isWhole = found.length === of.length && (run === undefined || found.length > 0) && !texts.includes(undefined);
  if (!isWhole) return undefined;
  const [first] = found;
  if (first && first.role !== "user") return ofModel(first, media);
  const shown = shownMedia(found, media);
  const front = texts.map((text) => ({ type: "text" as const, text: text ?? "" }));
  return { role: "user", content: [...front, ...found.flatMap((row) => userParts(row, shown))] };
}

function summaryOf(row: MessageRow | undefined): string | undefined {
  return row && `${SUMMARY_HEAD}\n${textOf(row.content)}`;
}

function ofModel(row: MessageRow, media: number): PromptMessage {
  if (row.role === "toolResult") {
    const content = resultContent(row.content, shownMedia([row], media));
    return {
      role: "tool",
      toolCallId: row.toolCallId ?? "",
      name: row.toolName ?? "",
      ...content,
      ...(row.isError ? { isError: true } : {}),
    };
  }
  const { provider, model } = row;
  const writtenBy = provider === undefined || model === undefined ? {} : { writtenBy: { provider, model } };
  return { role: "assistant", content: answerParts(row), ...writtenBy };
}

type Media = Extract<MessageRow["content"][number], { type: "image" | "file" }>;

/** The newest were sent, where not all of them were. */
function shownMedia(rows: readonly MessageRow[], count: number): ReadonlySet<Media> {
  const all = rows.flatMap(({ content }) => content.filter((block): block is Media => block.type === "image" || block.type === "file"));
  return new Set(count === 0 ? [] : all.slice(-count));
}
