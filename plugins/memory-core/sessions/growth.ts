import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock, Disposable, MessageRow, Timers } from "svc/sdk";
import type { IndexMethods } from "../worker-protocol.ts";
import { isOfMachine } from "./eligible.ts";
import { createSlices } from "./slices.ts";
import { rememberedSessions, type TranscriptStore } from "./transcripts.ts";

type Grown = IndexMethods["sessionsGrown"]["params"]["grown"][number];

export interface GrowthOptions {
  store: () => TranscriptStore;
  clock: Clock;
  timers: Timers;
  /** Agents whose transcripts are indexed at present; asked for at each look. */
  agentIds(): readonly string[];
  onGrown(agentId: string, grown: Grown[]): void;
  onFailure(error: unknown): void;
}

/** Window in which stored messages count as one event. */
const LOOK_EVERY_MS = 5_000;
/** A commit may be later than the time in its row. */
const OVERLAP_MS = 60_000;
/** Records of one session that one look counts; the rest is for the next. */
const MAX_ROWS = 1_000;
const MAX_KNOWN = 10_000;

/**
 * Follows the transcripts of the agents. A look compares one number unless something was stored, so an idle gateway does nothing; and it needs no notice
 * when another store takes over.
 */
export function watchGrowth(options: GrowthOptions): Disposable {
  const growth = new Growth(options);
  const timer = options.timers.setInterval(() => void growth.look(), LOOK_EVERY_MS);
  return {
    dispose() {
      growth.stop();
      return timer.dispose();
    },
  };
}

class Growth {
  readonly #options: GrowthOptions;
  /** Number of the last record counted, by session, the quietest first. */
  readonly #counted = new Map<string, number>();
  readonly #startedAt: number;
  #lookedAt: number;
  /** Version of the store at the last complete check. */
  #version: number | undefined;
  #isLooking = false;
  #hasFailed = false;
  #isStopped = false;

  constructor(options: GrowthOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#lookedAt = this.#startedAt;
  }

  /** A look that is under way tells nothing any more. */
  stop(): void {
    this.#isStopped = true;
  }

  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#lookAround();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed && !this.#isStopped) this.#options.onFailure(error);
      this.#hasFailed = true;
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookAround(): Promise<void> {
    const { store, clock, agentIds, onGrown } = this.#options;
    const agents = agentIds();
    const version = agents.length === 0 ? this.#version : store().sessions.version();
    if (version === this.#version) return;
    const now = clock.now();
    // A clock that was set back must not hide what comes next.
    const updatedAfter = Math.min(this.#lookedAt, now) - OVERLAP_MS;
    let isAll = true;
    for (const agentId of agents) {
      const grown: Grown[] = [];
      try {
        for await (const { sessionId } of rememberedSessions(store, { agentId, updatedAfter })) {
          const { bytes, messages, isAll: isWhole } = await this.#count(sessionId);
          if (messages > 0) grown.push({ sessionId, bytes, messages, isReset: false });
          isAll &&= isWhole;
        }
      } finally {
        if (grown.length > 0 && !this.#isStopped) onGrown(agentId, grown); // what was counted is not counted again
      }
    }
    this.#lookedAt = now;
    this.#version = isAll ? version : undefined;
  }

  async #count(sessionId: string): Promise<{ bytes: number; messages: number; isAll: boolean }> {
    const { store } = this.#options;
    const found = { bytes: 0, messages: 0 };
    let last = this.#counted.get(sessionId) ?? (await this.#lastBeforeStart(sessionId));
    let isAll = false;
    const slices = createSlices();
    for (let rows = 0; rows < MAX_ROWS && !isAll; rows += slices.rows) {
      const slice = await slices.read(async (limit) => {
        const read = await store().messages.scan(sessionId, last, limit);
        for (const row of read) {
          if (isOfMachine(row, () => undefined)) continue;
          found.bytes += storedBytes(row);
          found.messages += 1;
        }
        return read;
      }, MAX_ROWS - rows);
      last = slice.at(-1)?.seq ?? last;
      isAll = slices.isLast;
      if (!isAll) await nextTurn();
    }
    this.#remember(sessionId, last);
    return { ...found, isAll };
  }

  /** Position before this feed started; earlier messages are for the index itself to compare. */
  async #lastBeforeStart(sessionId: string): Promise<number> {
    const { store } = this.#options;
    let before = Number.MAX_SAFE_INTEGER;
    const slices = createSlices();
    for (let rows = 0; rows < MAX_ROWS; rows += slices.rows) {
      const page = await slices.read((limit) => store().messages.page(sessionId, { before, limit }), MAX_ROWS - rows);
      const last = page.findLast((row) => row.ts < this.#startedAt);
      if (last) return last.seq;
      const first = page[0];
      if (!first || slices.isLast) return 0;
      before = first.seq;
      await nextTurn();
    }
    return before - 1;
  }

  #remember(sessionId: string, seq: number): void {
    this.#counted.delete(sessionId);
    this.#counted.set(sessionId, seq);
    if (this.#counted.size <= MAX_KNOWN) return;
    for (const quietest of this.#counted.keys()) {
      this.#counted.delete(quietest);
      return;
    }
  }
}

/** Bytes of the record as JSON. Pictures are base64, so their length is known without writing them out. */
function storedBytes(row: MessageRow): number {
  let media = 0;
  const json = JSON.stringify(row, (key, value: unknown) => {
    if (key !== "data" || typeof value !== "string") return value;
    media += value.length;
    return "";
  });
  return Buffer.byteLength(json) + media;
}
