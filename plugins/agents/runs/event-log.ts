import type { RunEvent } from "svc/sdk";
import { inArrivals } from "svc/sdk/internal";

/** Text events that wait for a slow reader are joined beyond this number. */
const MAX_WAITING = 256;

interface Reader {
  queue: RunEvent[];
  wake: (() => void) | undefined;
}

/** One event, or a row of deltas of one message that are told as one. */
interface Entry {
  last: RunEvent;
  /** All deltas of the row; undefined for one event. */
  delta: string | undefined;
}

/**
 * Events of one run for any number of readers, each from the first event on. The log keeps one entry per message instead of one
 * per delta, so its size follows the number of steps, not of tokens.
 */
export class EventLog {
  readonly #entries: Entry[] = [];
  readonly #readers = new Set<Reader>();
  #ended = false;

  push(event: RunEvent): void {
    if (this.#ended) return;
    this.#keep(event);
    for (const reader of this.#readers) {
      enqueue(reader.queue, event);
      reader.wake?.();
    }
  }

  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.wake?.();
  }

  /** Events that wait come together. */
  read(): AsyncIterable<RunEvent> {
    return inArrivals(() => this.#arriving());
  }

  async *#arriving(): AsyncGenerator<readonly RunEvent[]> {
    const reader: Reader = { queue: this.#entries.map(eventOf), wake: undefined };
    this.#readers.add(reader);
    try {
      for (;;) {
        const waiting = reader.queue;
        reader.queue = [];
        if (waiting.length > 0) yield waiting;
        else if (this.#ended) return;
        else await woken(reader);
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  #keep(event: RunEvent): void {
    const entry = this.#entries.at(-1);
    if (entry && isUpdate(entry.last) && isUpdate(event) && entry.last.data.toolCallId === event.data.toolCallId) {
      // Only the newest line of progress says anything.
      entry.last = event;
      return;
    }
    if (!entry || !continues(entry.last, event)) {
      this.#entries.push({ last: event, delta: undefined });
      return;
    }
    // The pieces become one text when somebody reads them.
    entry.delta = (entry.delta ?? deltaOf(entry.last)) + deltaOf(event);
    entry.last = event;
  }
}

function isUpdate({ stream, data }: RunEvent): boolean {
  return stream === "tool" && data.phase === "update";
}

function eventOf({ last, delta }: Entry): RunEvent {
  return delta === undefined ? last : { ...last, data: { ...last.data, delta } };
}

function woken(reader: Reader): Promise<void> {
  return new Promise((resolve) => {
    reader.wake = resolve;
  });
}

/** Joins a delta with the one before it once too many wait. */
function enqueue(queue: RunEvent[], event: RunEvent): void {
  const last = queue.length > MAX_WAITING ? queue.at(-1) : undefined;
  if (last && continues(last, event)) queue[queue.length - 1] = joinDeltas(last, event);
  else queue.push(event);
}

/** Is an event the next delta of the same message or call? */
function continues({ stream, data }: RunEvent, next: RunEvent): boolean {
  if (stream !== next.stream) return false;
  if (stream === "toolInput") return data.toolCallId === next.data.toolCallId;
  return (stream === "assistant" || stream === "reasoning") && data.itemId === next.data.itemId;
}

function deltaOf({ data }: { data: { [key: string]: unknown } }): string {
  return String(data.delta ?? "");
}

/** Two delta events of one message or call as one; a `text` is cumulative, so nothing is lost. */
export function joinDeltas<E extends { data: { [key: string]: unknown } }>(earlier: E, later: E): E {
  return { ...later, data: { ...later.data, delta: deltaOf(earlier) + deltaOf(later) } };
}
