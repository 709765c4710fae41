import { type Clock, type Logger, messageOf, sleep, type Timers } from "svc/sdk";
import { chained, type Draft, type Entry, type Link } from "./entry.ts";
import { type AuditRows, BLOCK, blockOf } from "./rows.ts";

/** Acts that wait for the storage; what comes after them is counted and lost. */
const MAX_WAITING = 1_000;
const MAX_IN_COMMIT = 200;
const RETRY_MS = 1_000;

export interface AuditLogDeps {
  rows: AuditRows;
  clock: Clock;
  timers: Pick<Timers, "setTimeout">;
  logger: Logger;
  signal: AbortSignal;
  /** Number of entries that are kept at least. */
  maxEntries: number;
}

/** Appends acts in the order in which they were reported, as soon as the storage takes them. Nobody waits for it. */
export class AuditLog {
  readonly #deps: AuditLogDeps;
  #waiting: Draft[] = [];
  #lost = 0;
  #head: Link | undefined;
  /** Entries of a commit that failed; with its answer lost it may have been stored all the same. */
  #doubtful: Entry[] | undefined;
  #writing: Promise<void> | undefined;

  constructor(deps: AuditLogDeps) {
    this.#deps = deps;
  }

  /** Never throws, never waits. */
  add(act: Omit<Draft, "at">): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push({ at: this.#deps.clock.now(), ...act });
    this.#writing ??= this.#write();
  }

  /** Resolves when what was reported is stored, or the plugin ends. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    // Acts of one turn are one commit.
    await Promise.resolve();
    let goesOn = true;
    while (goesOn && this.#waiting.length > 0) goesOn = await this.#writeBatch();
    // In the same turn as the last look at what waits: an act that comes later begins anew.
    this.#writing = undefined;
  }

  /** @returns false when the plugin ends and the storage is away */
  async #writeBatch(): Promise<boolean> {
    const { signal, logger, timers } = this.#deps;
    const batch = this.#waiting.slice(0, MAX_IN_COMMIT);
    try {
      const count = (await this.#settleDoubtful()) ?? (await this.#append(batch));
      this.#waiting.splice(0, count);
      this.#tellLost();
      await this.#prune();
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      logger.warn("the audit log cannot be written; trying again", { error: messageOf(error), waiting: this.#waiting.length });
      await sleep(RETRY_MS, signal, timers).catch(() => undefined);
      return true;
    }
  }

  /** @returns number of acts that turned out to be stored; undefined when none was */
  async #settleDoubtful(): Promise<number | undefined> {
    const [entries, last] = [this.#doubtful, this.#doubtful?.at(-1)];
    if (!entries || !last) return undefined;
    const stored = await this.#deps.rows.block(blockOf(last.seq));
    this.#doubtful = undefined;
    if (!stored.some(({ seq, hash }) => seq === last.seq && hash === last.hash)) return undefined;
    this.#head = { seq: last.seq, hash: last.hash };
    return entries.length;
  }

  async #append(batch: readonly Draft[]): Promise<number> {
    const { rows } = this.#deps;
    let link = this.#head ?? (await rows.head());
    const entries = batch.map((draft) => {
      const entry = chained(link, draft);
      link = entry;
      return entry;
    });
    try {
      await rows.append(entries);
    } catch (error) {
      this.#head = undefined;
      this.#doubtful = entries;
      throw error;
    }
    this.#head = { seq: link.seq, hash: link.hash };
    return entries.length;
  }

  #tellLost(): void {
    if (this.#lost === 0) return;
    const details = { count: this.#lost };
    this.#lost = 0;
    this.#deps.logger.error("acts are missing in the audit log: too many waited for the storage", details);
    this.add({ action: "audit.lost", actor: { kind: "gateway", id: "audit" }, outcome: "error", details });
  }

  /** Replaces the oldest block by a checkpoint once more than enough is kept. */
  async #prune(): Promise<void> {
    const { rows, maxEntries, logger } = this.#deps;
    const head = this.#head;
    if (!head || head.seq % BLOCK > MAX_IN_COMMIT) return; // once for each block is enough
    const dropped = await rows.checkpoint();
    if (head.seq - dropped.seq < maxEntries + BLOCK) return;
    const oldest = await rows.block(blockOf(dropped.seq + 1));
    const last = oldest.at(-1);
    if (!last) return logger.warn("the oldest entries of the audit log are missing; see svc audit verify");
    await rows.drop(oldest, last);
    const details = { through: last.seq, hash: last.hash };
    this.add({ action: "audit.pruned", actor: { kind: "gateway", id: "audit" }, outcome: "ok", details });
  }
}
