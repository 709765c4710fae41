import type { RunEvent } from "svc/sdk";

/** Text events that wait for a slow reader are joined beyond this number. */
const MAX_WAITING = 256;

interface Reader {
  queue: RunEvent[];
  wake: (() => void) | undefined;
}

/**
 * Events of one run for any number of readers, each from the first event on. The log keeps one entry per message instead of one
 * per delta, so its size follows the number of steps, not of tokens.
 */
export class EventLog {
  readonly #entries: RunEvent[] = [];
  readonly #readers = new Set<Reader>();
  #ended = false;

  push(event: RunEvent): void {
    if (this.#ended) return;
    append(this.#entries, event, 0);
    for (const reader of this.#readers) {
      append(reader.queue, event, MAX_WAITING);
      reader.wake?.();
    }
  }

  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.wake?.();
  }

  async *read(): AsyncGenerator<RunEvent> {
    const reader: Reader = { queue: [...this.#entries], wake: undefined };
    this.#readers.add(reader);
    try {
      for (;;) {
        const event = reader.queue.shift();
        if (event) yield event;
        else if (this.#ended) return;
        else await woken(reader);
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

function woken(reader: Reader): Promise<void> {
  return new Promise((resolve) => {
    reader.wake = resolve;
  });
}

/** Joins a delta with the one before it once `above` entries wait. */
function append(queue: RunEvent[], event: RunEvent, above: number): void {
  const last = queue.at(-1);
  const key = deltaKey(event);
  if (queue.length > above && last && key !== undefined && key === deltaKey(last)) queue[queue.length - 1] = joinDeltas(last, event);
  else queue.push(event);
}

/** Equal for events whose deltas continue each other. */
function deltaKey({ stream, data }: RunEvent): string | undefined {
  if (stream === "assistant" || stream === "reasoning") return `${stream}:${data.itemId}`;
  return stream === "toolInput" ? `${stream}:${data.toolCallId}` : undefined;
}

/** Two delta events of one message or call as one; a `text` is cumulative, so nothing is lost. */
export function joinDeltas<E extends { data: { [key: string]: unknown } }>(earlier: E, later: E): E {
  return { ...later, data: { ...later.data, delta: `${earlier.data.delta ?? ""}${later.data.delta ?? ""}` } };
}
