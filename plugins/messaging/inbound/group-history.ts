import { cutEnd, type InboundEvent } from "svc/sdk";

/** A line that was said in a group without a mention. */
export interface HistoryLine {
  /** Id of its event: what comes again is the same line. */
  id: string;
  sender: { id: string; name?: string | undefined };
  text: string;
}

/** Longest text of one line. */
const MAX_LINE_CHARS = 1_000;
/** Text of one conversation, and of all. */
const MAX_CHARS = 24_000;
const MAX_ALL_CHARS = 4_000_000;
const MAX_CONVERSATIONS = 1_000;
/** Share of a line besides its texts. */
const LINE_CHARS = 50;

interface Kept {
  lines: HistoryLine[];
  chars: number;
}

/**
 * Lines of groups that were not meant for the agent, as context for the next message that is. Only lines of senders who may write there are kept. They live in this
 * process alone: a restart forgets them, and so does a message that takes them.
 */
export class GroupHistory {
  /** By conversation; the one that was silent longest goes first. */
  readonly #kept = new Map<string, Kept>();
  #chars = 0;

  /** @param limit lines of the conversation that are kept, `historyLimit` */
  note(conversation: string, event: InboundEvent, limit: number): void {
    if (limit === 0) return this.#drop(conversation);
    const before = this.#kept.get(conversation)?.lines ?? [];
    if (before.some(({ id }) => id === event.id)) return;
    this.#set(conversation, [...before, toLine(event)].slice(-limit));
  }

  /** Takes the lines of a conversation out, oldest first. @param limit as it is now */
  take(conversation: string, limit: number): HistoryLine[] {
    const lines = this.#kept.get(conversation)?.lines ?? [];
    this.#drop(conversation);
    return limit === 0 ? [] : lines.slice(-limit);
  }

  /** The message that took them was not stored. */
  restore(conversation: string, lines: readonly HistoryLine[]): void {
    if (lines.length > 0) this.#set(conversation, [...lines, ...(this.#kept.get(conversation)?.lines ?? [])]);
  }

  #set(conversation: string, lines: HistoryLine[]): void {
    this.#drop(conversation);
    const fitting = newestLines(lines);
    const chars = fitting.reduce((sum, line) => sum + sizeOf(line), 0);
    this.#kept.set(conversation, { lines: fitting, chars });
    this.#chars += chars;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_CONVERSATIONS && this.#chars <= MAX_ALL_CHARS) return;
      this.#drop(oldest);
    }
  }

  #drop(conversation: string): void {
    this.#chars -= this.#kept.get(conversation)?.chars ?? 0;
    this.#kept.delete(conversation);
  }
}

function toLine({ id, sender, text, media }: InboundEvent): HistoryLine {
  const files = media?.length ?? 0;
  const more = files === 0 ? "" : ` [${files} ${files === 1 ? "attachment" : "attachments"}]`;
  const { id: senderId, name } = sender;
  return { id, sender: { id: senderId, ...(name === undefined ? {} : { name }) }, text: `${cutEnd(text.trim(), MAX_LINE_CHARS)}${more}` };
}

type Sized = Pick<HistoryLine, "sender" | "text">;

/** The last lines that fit into one conversation's share. */
export function newestLines<L extends Sized>(lines: readonly L[]): L[] {
  let left = MAX_CHARS;
  const from = lines.findLastIndex((line) => {
    left -= sizeOf(line);
    return left < 0;
  });
  return lines.slice(from + 1);
}

function sizeOf({ sender, text }: Sized): number {
  return text.length + sender.id.length + (sender.name?.length ?? 0) + LINE_CHARS;
}
