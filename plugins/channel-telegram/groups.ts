import type { Message } from "./updates.ts";

/** Parts of one group that are waited for; Telegram allows ten. */
const MAX_PARTS = 10;
/** Groups that are open at a time. */
const MAX_OPEN = 100;

interface Open {
  chatId: number;
  parts: Array<{ id: string; message: Message }>;
  done: Promise<void>;
  flush(): void;
}

/** Puts the parts of groups of pictures together: each comes as a message of its own. */
export class MediaGroups {
  readonly #open = new Map<string, Open>();
  readonly #waitMs: number;
  readonly #deliver: (messages: Message[], id: string) => Promise<void>;

  /** @param deliver called with all parts and the id of the first */
  constructor(waitMs: number, deliver: (messages: Message[], id: string) => Promise<void>) {
    this.#waitMs = waitMs;
    this.#deliver = deliver;
  }

  /** Resolves when the whole group was delivered. */
  add(message: Message, id: string): Promise<void> {
    const key = `${message.chat.id}:${message.media_group_id}`;
    const open = this.#open.get(key) ?? this.#begin(key, message.chat.id);
    open.parts.push({ id, message });
    if (open.parts.length >= MAX_PARTS) open.flush();
    return open.done;
  }

  /** Delivers the open groups of a chat now: what is said after them must not overtake them. */
  async flush(chatId: number): Promise<void> {
    const open = [...this.#open.values()].filter((group) => group.chatId === chatId);
    for (const group of open) group.flush();
    await Promise.allSettled(open.map(({ done }) => done));
  }

  #begin(key: string, chatId: number): Open {
    if (this.#open.size >= MAX_OPEN) this.#open.values().next().value?.flush();
    let flush = () => undefined as void;
    const timer = new Promise<void>((resolve) => {
      const late = setTimeout(resolve, this.#waitMs);
      flush = () => {
        clearTimeout(late);
        this.#open.delete(key);
        resolve();
      };
    });
    const parts: Open["parts"] = [];
    const done = timer.then(async () => {
      this.#open.delete(key);
      // Parts may come over several connections.
      parts.sort((a, b) => a.message.message_id - b.message.message_id);
      await this.#deliver(
        parts.map(({ message }) => message),
        parts[0]?.id ?? key,
      );
    });
    const open = { chatId, parts, done, flush: () => flush() };
    this.#open.set(key, open);
    return open;
  }
}
