import type { Verdict } from "./request.ts";

/** A text on its way to the provider. */
export interface QueuedText {
  text: string;
  /** `undefined`: the provider is of no use at present, the vector has to come later. */
  settle(verdict: Verdict | undefined): void;
}

export interface QueueOptions {
  maxItems: number;
  maxBytes: number;
  maxInFlight: number;
  /** Embeds a group; undefined when the provider is of no use. Other errors end the sync. */
  embed(texts: string[]): Promise<Verdict[] | undefined>;
  /** Each text of an answer is settled: time to write. */
  answered(): Promise<void>;
}

/** Gathers texts across documents into requests of bounded size, a few under way at a time. */
export interface EmbedQueue {
  add(item: QueuedText): void;
  /** Resolves when there is room for more. @throws what `embed` or `answered` threw */
  room(): Promise<void>;
  /** Sends what is left and resolves when everything is settled. @throws what `embed` or `answered` threw */
  drain(): Promise<void>;
}

/** Full groups that may wait beside those under way. */
const MAX_READY = 4;

export function createEmbedQueue(options: QueueOptions): EmbedQueue {
  return new GroupingQueue(options);
}

class GroupingQueue implements EmbedQueue {
  readonly #options: QueueOptions;
  readonly #ready: QueuedText[][] = [];
  #open: QueuedText[] = [];
  #openBytes = 0;
  #inFlight = 0;
  #failure: { error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  add(item: QueuedText): void {
    const bytes = Buffer.byteLength(item.text);
    const { maxItems, maxBytes } = this.#options;
    if (this.#open.length > 0 && (this.#open.length >= maxItems || this.#openBytes + bytes > maxBytes)) this.#closeGroup();
    this.#open.push(item);
    this.#openBytes += bytes;
    if (this.#open.length >= maxItems) this.#closeGroup();
  }

  async room(): Promise<void> {
    await this.#until(() => this.#ready.length < MAX_READY);
  }

  async drain(): Promise<void> {
    this.#closeGroup();
    await this.#until(() => this.#ready.length === 0 && this.#inFlight === 0);
  }

  #closeGroup(): void {
    if (this.#open.length === 0) return;
    this.#ready.push(this.#open);
    this.#open = [];
    this.#openBytes = 0;
    this.#pump();
  }

  #pump(): void {
    while (this.#inFlight < this.#options.maxInFlight && !this.#failure) {
      const group = this.#ready.shift();
      if (!group) return;
      this.#inFlight++;
      this.#send(group)
        .catch((error) => {
          this.#failure ??= { error };
        })
        .finally(() => {
          this.#inFlight--;
          this.#pump();
          this.#wake?.();
        });
    }
  }

  async #send(group: QueuedText[]): Promise<void> {
    const verdicts = await this.#options.embed(group.map((item) => item.text));
    for (const [index, item] of group.entries()) item.settle(verdicts?.[index]);
    await this.#options.answered();
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!this.#failure && !condition()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure) throw this.#failure.error;
  }
}
