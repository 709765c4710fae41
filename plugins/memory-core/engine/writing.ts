import { setTimeout as sleep } from "node:timers/promises";
import { BUSY_TIMEOUT_MS, type Database, isBusy } from "./database.ts";
import type { Pacer } from "./pacer.ts";
import type { VectorStore } from "./vector-store.ts";

/** An index that is written: its database and its vectors. */
export interface OpenIndex {
  db: Database;
  vectors: VectorStore;
}

/** Rows that belong together; the steps let searches through. */
export interface QueuedWrite {
  /** About how many rows. */
  rows: number;
  run(): Iterable<unknown>;
  /** After the commit. */
  done?: (() => void) | undefined;
}

/** Gathers writes into transactions, one at a time. What is queued together is committed together, or not at all. */
export interface WriteQueue {
  add(write: QueuedWrite): void;
  readonly isFull: boolean;
  flush(): Promise<void>;
}

/** The transaction under way on a connection: two at a time would be one. */
const underWay = new WeakMap<Database, Promise<void>>();
const MAX_WRITES = 256;
const MAX_ROWS = 1_024;
const BUSY_POLL_MS = 20;

export function createWriteQueue(index: OpenIndex, pacer: Pacer): WriteQueue {
  let writes: QueuedWrite[] = [];
  let rows = 0;
  let last: Promise<void> = Promise.resolve();
  const commitAll = async () => {
    const all = writes;
    writes = [];
    rows = 0;
    if (all.length === 0) return;
    const turn = (underWay.get(index.db) ?? Promise.resolve()).then(() => commit(index, all, pacer));
    underWay.set(
      index.db,
      turn.catch(() => undefined),
    );
    await turn;
  };
  return {
    add(write) {
      writes.push(write);
      rows += write.rows;
    },
    get isFull() {
      return writes.length >= MAX_WRITES || rows >= MAX_ROWS;
    },
    flush() {
      last = last.then(commitAll);
      return last;
    },
  };
}

/** One transaction of any length: other work of the thread goes on between its steps, and sees it half done until it is committed. */
async function commit({ db, vectors }: OpenIndex, writes: readonly QueuedWrite[], pacer: Pacer): Promise<void> {
  await begin(db, pacer);
  try {
    for (const write of writes) for (const _ of write.run()) await pacer.breathe();
    db.prepare("COMMIT").run();
  } catch (error) {
    if (db.inTransaction) db.prepare("ROLLBACK").run();
    vectors.rolledBack();
    throw error;
  }
  vectors.committed();
  for (const write of writes) write.done?.();
}

/** Waits for a write of another process without holding the thread. */
async function begin(db: Database, pacer: Pacer): Promise<void> {
  const until = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      db.pragma("busy_timeout = 0");
      db.prepare("BEGIN IMMEDIATE").run();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
    } finally {
      db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
    await sleep(BUSY_POLL_MS);
    await pacer.breathe();
  }
}
