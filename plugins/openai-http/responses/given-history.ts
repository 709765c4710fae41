import type { RunRequest } from "svc/sdk";

type Turns = NonNullable<RunRequest["history"]>;

/** Longest history, in UTF-16 units, that is stored with a response; a longer one would be stored again with each request of a client that sends all. */
const MAX_STORED_CHARS = 8_192;
/** Histories that are remembered, in UTF-16 units together; the oldest go first. */
const MAX_KEPT_CHARS = 16 * 1024 * 1024;
/** Histories that are remembered: as many as responses that can be continued. */
const MAX_KEPT = 500;
/** Newest turns of a history that are remembered; a run reads no more rows of a conversation. */
const MAX_KEPT_TURNS = 400;
/** Size of a block of a turn beside its content. */
const BLOCK_CHARS = 300;

/** True for a history that is remembered and not stored. */
export function isLong(turns: Turns): boolean {
  return charsOf(turns) > MAX_STORED_CHARS;
}

/** Long histories that responses began with, by session, for as long as these can be continued. Gone after a restart. */
export class GivenHistories {
  readonly #ttlMs: number;
  readonly #kept = new Map<string, { turns: Turns; chars: number; at: number }>();
  #chars = 0;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  /** Keeps the newest turns of a history, or keeps them longer. */
  keep(sessionKey: string, given: Turns, now: number): void {
    this.#drop(sessionKey);
    const turns = given.slice(-MAX_KEPT_TURNS);
    const chars = charsOf(turns) + turns.reduce((sum, { content }) => sum + Math.max(1, content.length) * BLOCK_CHARS, 0);
    this.#kept.set(sessionKey, { turns, chars, at: now });
    this.#chars += chars;
    for (const [key, { at }] of this.#kept) {
      if (this.#chars <= MAX_KEPT_CHARS && this.#kept.size <= MAX_KEPT && now - at < this.#ttlMs) return;
      this.#drop(key);
    }
  }

  of(sessionKey: string, now: number): Turns | undefined {
    const kept = this.#kept.get(sessionKey);
    if (!kept || now - kept.at < this.#ttlMs) return kept?.turns;
    this.#drop(sessionKey);
    return undefined;
  }

  #drop(key: string): void {
    this.#chars -= this.#kept.get(key)?.chars ?? 0;
    this.#kept.delete(key);
  }
}

function charsOf(turns: Turns): number {
  let chars = 0;
  for (const { content, toolCallId = "", toolName = "" } of turns) {
    chars += toolCallId.length + toolName.length;
    for (const block of content) {
      if (block.type === "text") chars += block.text.length;
      else if (block.type === "image" || block.type === "file") chars += block.data.length;
      else if (block.type === "toolCall") chars += block.id.length + block.name.length + (JSON.stringify(block.arguments) ?? "").length;
    }
  }
  return chars;
}
