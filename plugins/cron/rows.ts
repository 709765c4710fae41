import { type CommitOptions, isRecord, isSvcError, type Store, type StoreOp } from "svc/sdk";
import { CRON_SCOPE, type CronLogPlace, cronJobKey, cronJobRow } from "svc/sdk/internal";
import type { Job, LogEntry } from "./job.ts";
import { appendOps, dropOps, type LogLimits, REMOVED } from "./run-log.ts";

type Rows = Pick<Store, "kv" | "commit">;

const REMOVED_PLACE = "removed-log";
const NO_LOG: CronLogPlace = { first: 0, next: 0, bytes: 0 };
const MAX_TRIES = 5;
/** A commit holds 10,000 ops; a longer log goes in several. */
const DROPPED_AT_ONCE = 5_000;

/** Change of one job: its next form, or its end, and what is stored with it. */
export interface Change {
  job: Job;
  isRemoved?: boolean;
  entry?: LogEntry;
  ops?: StoreOp[];
}

/** A row that is no job. */
export interface BrokenRow {
  id: string;
  problem: string;
}

/** Jobs as rows: every change reads the row, and fails when another one has changed it meanwhile. Changes happen one after the other. */
export class JobRows {
  readonly #store: () => Rows;
  readonly #limits: () => LogLimits;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(store: () => Rows, limits: () => LogLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** At most 1,000 jobs. */
  async load(): Promise<{ jobs: Job[]; broken: BrokenRow[] }> {
    const jobs: Job[] = [];
    const broken: BrokenRow[] = [];
    for (const { key, value } of await this.#store().kv.list(CRON_SCOPE, cronJobKey(""))) {
      const parsed = cronJobRow.safeParse(value);
      if (parsed.success) jobs.push(parsed.data);
      else {
        const [issue] = parsed.error.issues;
        broken.push({ id: key.slice(cronJobKey("").length), problem: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "no job"}` });
      }
    }
    return { jobs, broken };
  }

  /** @throws {SvcError} `exists` */
  async insert(job: Job): Promise<void> {
    await this.#inTurn(() =>
      this.#store().commit([{ op: "kv.put", scope: CRON_SCOPE, key: cronJobKey(job.id), value: job, ifAbsent: true }]),
    );
  }

  /**
   * Stores what a function makes of the present row. It may be asked again; undefined: nothing changes.
   * @returns the row as it is then; undefined when there is none
   */
  change(
    id: string,
    fn: (job: Job) => Change | undefined,
    fence?: CommitOptions["fence"],
  ): Promise<{ job: Job; changed: boolean } | undefined> {
    return this.#inTurn(async () => {
      for (let tries = 1; ; tries += 1) {
        const read = await this.#store().kv.read(CRON_SCOPE, cronJobKey(id));
        const parsed = read && cronJobRow.safeParse(read.value);
        if (!read || !parsed?.success) return undefined;
        const change = fn(parsed.data);
        if (!change) return { job: parsed.data, changed: false };
        const job = await this.#withLog(change);
        try {
          await this.#store().commit(this.#opsOf(job, read.version), fence ? { fence } : {});
          return { job: job.job, changed: true };
        } catch (error) {
          if (!isSvcError(error, "kv-changed") || tries >= MAX_TRIES) throw error;
        }
      }
    });
  }

  /** Removes a job with its log, whatever its row holds; false when there is none. */
  remove(id: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const read = await this.#store().kv.read(CRON_SCOPE, cronJobKey(id));
      if (!read) return false;
      const parsed = cronJobRow.safeParse(read.value);
      const drops = parsed.success ? dropOps(id, parsed.data.log) : [];
      while (drops.length > DROPPED_AT_ONCE) await this.#store().commit(drops.splice(0, DROPPED_AT_ONCE));
      await this.#store().commit([...drops, { op: "kv.delete", scope: CRON_SCOPE, key: cronJobKey(id) }]);
      return true;
    });
  }

  /** Place of the log of runs whose jobs are gone. */
  async removedLog(): Promise<CronLogPlace> {
    const value = await this.#store().kv.get(CRON_SCOPE, REMOVED_PLACE);
    return isPlace(value) ? value : NO_LOG;
  }

  async #withLog(change: Change): Promise<Change> {
    const { job, entry, isRemoved } = change;
    if (!entry) return change;
    const owner = isRemoved ? REMOVED : job.id;
    const from = isRemoved ? await this.removedLog() : job.log;
    const { ops, place } = await appendOps(this.#store(), { owner, place: from, entry }, this.#limits());
    const kept: StoreOp[] = isRemoved ? [{ op: "kv.put", scope: CRON_SCOPE, key: REMOVED_PLACE, value: place }] : [];
    return { ...change, job: isRemoved ? job : { ...job, log: place }, ops: [...(change.ops ?? []), ...ops, ...kept] };
  }

  #opsOf({ job, isRemoved, ops = [] }: Change, ifVersion: number): StoreOp[] {
    const key = cronJobKey(job.id);
    if (!isRemoved) return [{ op: "kv.put", scope: CRON_SCOPE, key, value: job, ifVersion }, ...ops];
    return [{ op: "kv.delete", scope: CRON_SCOPE, key, ifVersion }, ...dropOps(job.id, job.log).slice(0, DROPPED_AT_ONCE), ...ops];
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(task, task);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}

function isPlace(value: unknown): value is CronLogPlace {
  return isRecord(value) && typeof value.first === "number" && typeof value.next === "number" && typeof value.bytes === "number";
}
