import { stat } from "node:fs/promises";
import type { Worker } from "node:worker_threads";
import { type Clock, type Logger, messageOf, settledWithin, startWorker, workerUrl } from "svc/sdk";
import type { SnapshotAnswer, SnapshotOrder } from "./snapshot.worker.ts";
import { type CheckDepth, listSnapshots } from "./snapshots.ts";

/** A start has other work first. */
const firstMs = 60_000;
/** After an unclean end the check comes sooner: what it finds should not wait for an hour. */
const afterUncleanMs = 5_000;
const longestMs = 600_000;
/** A stop waits this long for a copy under way: its read lock keeps the log from being emptied. */
const stopMs = 2_000;

export interface SnapshotKeeperOptions {
  /** The database as of now. */
  path(): string;
  clock: Clock;
  logger: Logger;
  /** Between two snapshots. */
  intervalMs: number;
  /** The last process did not close the database: it is checked in full, soon. */
  isUnclean: boolean;
  /** First pause after a start; default 1 min, 5 s after an unclean end. */
  firstMs?: number | undefined;
  /** Runs before each snapshot: makes sure that the file is ours, and brings what is in the log into it. A log that is cut off later costs nothing older than the snapshot then. */
  prepare(): Promise<void>;
  /** The copy shows that the database is damaged. */
  onDamage(message: string): void;
}

/** Takes a snapshot every hour, when something was stored since the last one. */
export interface SnapshotKeeper {
  /** Something was stored. */
  changed(): void;
  /** When the newest snapshot was taken, epoch ms; undefined while there is none. */
  newestAt(): number | undefined;
  close(): Promise<void>;
}

export function createSnapshotKeeper(options: SnapshotKeeperOptions): SnapshotKeeper {
  const { clock, logger, intervalMs } = options;
  let newestAt = listSnapshots(options.path())[0]?.at;
  /** Whether anything was stored since the newest snapshot; for an earlier process the time of the file decides. */
  let isChanged: boolean | undefined;
  let isCheckDue = options.isUnclean;
  let working: { worker: Worker; done: Promise<void> } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const plan = (ms: number) => {
    if (isClosed) return;
    timer = setTimeout(() => void run(), ms);
    timer.unref();
  };
  const run = async () => {
    try {
      isChanged ??= await isNewer(options.path(), newestAt ?? 0);
      if (isClosed) return;
      if (isChanged || isCheckDue) await take(isCheckDue ? "full" : "quick");
    } catch (error) {
      logger.warn("no snapshot of the state database could be taken; the next attempt is in an hour", { error: messageOf(error) });
    }
    plan(intervalMs);
  };
  const take = async (depth: CheckDepth) => {
    await options.prepare();
    if (isClosed) return;
    const at = clock.now();
    // Writes from here on may be missing from the copy.
    isChanged = false;
    const { worker, answer } = startSnapshot({ path: options.path(), at, depth });
    const done = answer.then(
      () => undefined,
      () => undefined,
    );
    working = { worker, done };
    const said = await answer.finally(() => {
      working = undefined;
    });
    if ("taken" in said) {
      newestAt = at;
      isCheckDue = false;
      logger.debug("snapshot of the state database taken", { path: said.taken, depth });
    } else if ("damage" in said) options.onDamage(said.damage);
    else {
      isChanged = true;
      throw new Error(said.failed);
    }
  };

  const sinceMs = newestAt === undefined ? intervalMs : Math.max(0, clock.now() - newestAt);
  plan(options.firstMs ?? (options.isUnclean ? afterUncleanMs : Math.max(firstMs, intervalMs - sinceMs)));
  return {
    changed() {
      isChanged = true;
    },
    newestAt: () => newestAt,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      if (!working) return;
      const { worker, done } = working;
      await settledWithin(done, stopMs);
      void worker.terminate();
    },
  };
}

async function isNewer(path: string, at: number): Promise<boolean> {
  const times = await Promise.all(
    [path, `${path}-wal`].map((name) =>
      stat(name).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times) > at;
}

function startSnapshot(order: SnapshotOrder): { worker: Worker; answer: Promise<SnapshotAnswer> } {
  const worker = startWorker(workerUrl(import.meta.url, "./snapshot.worker"), { workerData: order, name: "store-snapshot" });
  worker.unref();
  const answer = new Promise<SnapshotAnswer>((resolve, reject) => {
    const limit = setTimeout(() => {
      void worker.terminate();
      reject(new Error(`it took longer than ${longestMs / 60_000} min`));
    }, longestMs);
    limit.unref();
    const end = () => clearTimeout(limit);
    worker.once("message", (said: SnapshotAnswer) => {
      end();
      resolve(said);
    });
    worker.once("error", (error) => {
      end();
      reject(error);
    });
    worker.once("exit", (code) => {
      end();
      reject(new Error(`its thread ended with code ${code}`));
    });
  });
  return { worker, answer };
}
