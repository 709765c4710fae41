import { type Clock, isSvcError, type Logger, messageOf, type Store, type Timers } from "svc/sdk";
import { createDays, type Days } from "./days.ts";
import { nothing, sum, type Totals, totalsOf } from "./totals.ts";

const SCOPE = "gateway/usage";
/** Counts are stored this long after the first that is not: a process that is killed loses at most these. */
const FLUSH_AFTER_MS = 1_000;
/** Days that are kept. */
export const MAX_DAYS = 400;
/** Days before those that are looked at for rows to delete: so long a gateway may have been off. */
const PRUNED_DAYS = 60;
/** Days that are asked for together. */
const TOGETHER = 8;
/** Rows that wait for the store; beyond it the oldest is lost, with a warning. */
const MAX_WAITING = 10_000;

/** Sums of one day, agent and model. */
export interface UsageRow {
  /** Local day, as `2026-11-28`. */
  day: string;
  agentId: string;
  /** `provider/model`; empty where no model was asked. */
  model: string;
  totals: Totals;
}

interface Deps {
  store: () => Pick<Store, "kv" | "commit">;
  timers: Pick<Timers, "setTimeout">;
  clock: Pick<Clock, "now">;
  logger: Pick<Logger, "warn">;
}

/** Adds up runs in memory and stores the sums once a second. */
export class UsageCounter {
  readonly #deps: Deps;
  readonly #days: Days;
  readonly #waiting = new Map<string, UsageRow>();
  #isPlanned = false;
  #stored: Promise<void> = Promise.resolve();
  #prunedOn = "";

  constructor(deps: Deps, days = createDays()) {
    this.#deps = deps;
    this.#days = days;
  }

  add({
    agentId,
    model = "",
    status,
    usage,
    isReplay = false,
  }: {
    agentId: string;
    model?: string | undefined;
    status: "ok" | "error";
    usage: unknown;
    isReplay?: boolean;
  }): void {
    const day = this.#days.of(this.#deps.clock.now());
    const key = `${day}/${agentId}/${model}`;
    const before = this.#waiting.get(key)?.totals ?? nothing;
    this.#waiting.set(key, { day, agentId, model, totals: sum(before, totalsOf(usage, status, isReplay)) });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_WAITING && oldest !== undefined) {
      this.#waiting.delete(oldest);
      this.#deps.logger.warn("counts of usage are lost: too many wait for the storage");
    }
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#deps.timers.setTimeout(() => {
      this.#isPlanned = false;
      void this.flushed();
    }, FLUSH_AFTER_MS);
  }

  /** Resolves when all that was added before is stored, or could not be. */
  flushed(): Promise<void> {
    this.#stored = this.#stored
      .then(() => this.#store())
      .catch((error: unknown) => this.#deps.logger.warn("counts of usage were not stored", { error: messageOf(error) }));
    return this.#stored;
  }

  /** Rows of so many days up to today, what is not stored yet included. A day is one page of the store: of more than 1,000 agents and models some are left out. */
  async rows(days: number): Promise<UsageRow[]> {
    await this.flushed();
    const found = await this.#list(this.#days.upTo(this.#deps.clock.now(), days));
    return found.map(({ value }) => value as UsageRow);
  }

  /** A few days at a time: a year would be hundreds of questions to the store at once. */
  async #list(days: readonly string[]): Promise<Array<{ key: string; value: unknown }>> {
    const found: Array<{ key: string; value: unknown }> = [];
    for (let at = 0; at < days.length; at += TOGETHER) {
      const some = days.slice(at, at + TOGETHER);
      found.push(...(await Promise.all(some.map((day) => this.#deps.store().kv.list(SCOPE, `${day}/`)))).flat());
    }
    return found;
  }

  async #store(): Promise<void> {
    const rows = [...this.#waiting];
    this.#waiting.clear();
    for (const [key, row] of rows) {
      try {
        await this.#merge(key, row);
      } catch (error) {
        this.#deps.logger.warn("counts of usage were not stored", { error: messageOf(error) });
        this.#giveBack(key, row);
      }
    }
    await this.#prune();
  }

  /** Tries again with the next run: nothing is stored while the storage is away. */
  #giveBack(key: string, row: UsageRow): void {
    const newer = this.#waiting.get(key);
    this.#waiting.set(key, newer ? { ...row, totals: sum(row.totals, newer.totals) } : row);
  }

  async #merge(key: string, row: UsageRow): Promise<void> {
    for (let left = 5; ; left--) {
      const { kv, commit } = this.#deps.store();
      const found = await kv.read(SCOPE, key);
      const stored = found?.value as UsageRow | undefined;
      const value = stored ? { ...row, totals: sum({ ...nothing, ...stored.totals }, row.totals) } : row;
      const condition = found ? { ifVersion: found.version } : { ifAbsent: true };
      try {
        await commit([{ op: "kv.put", scope: SCOPE, key, value, ...condition }]);
        return;
      } catch (error) {
        const isChanged = isSvcError(error, "kv-changed") || isSvcError(error, "exists");
        if (!isChanged || left <= 1) throw error;
      }
    }
  }

  /** Once a day. */
  async #prune(): Promise<void> {
    const now = this.#deps.clock.now();
    const today = this.#days.of(now);
    if (this.#prunedOn === today) return;
    this.#prunedOn = today;
    const old = await this.#list(this.#days.upTo(now, PRUNED_DAYS, MAX_DAYS + 1));
    if (old.length > 0) await this.#deps.store().commit(old.map(({ key }) => ({ op: "kv.delete" as const, scope: SCOPE, key })));
  }
}
