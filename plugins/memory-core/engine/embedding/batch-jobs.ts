import type { Database } from "../database.ts";

/** A chunk whose vector a job brings. */
export interface BatchItem {
  chunkId: string;
  /** Hash of the embedded text: a chunk that has changed since takes no vector from the job. */
  hash: string;
}

export interface StoredJob {
  job: string;
  createdAt: number;
  /** Number of earlier time-outs of its texts. */
  timeouts: number;
}

/** Jobs that a vendor works on. They stand in the database, so that any later process can ask for the results. */
export interface BatchJobs {
  list(): StoredJob[];
  remember(job: StoredJob, items: readonly BatchItem[]): void;
  /** In the order in which the texts were sent. */
  items(job: string): BatchItem[];
  forget(job: string): void;
}

export function createBatchJobs(db: Database, providerKey: string): BatchJobs {
  const list = db.prepare("SELECT job, created_at AS createdAt, timeouts FROM batch_jobs WHERE provider_key = ? ORDER BY created_at, job");
  const items = db.prepare("SELECT chunk_id AS chunkId, hash FROM batch_items WHERE job = ? ORDER BY ordinal");
  const putJob = db.prepare("INSERT OR REPLACE INTO batch_jobs(job, provider_key, created_at, timeouts) VALUES (?, ?, ?, ?)");
  const putItem = db.prepare("INSERT OR REPLACE INTO batch_items(job, ordinal, chunk_id, hash) VALUES (?, ?, ?, ?)");
  const dropItems = db.prepare("DELETE FROM batch_items WHERE job = ?");
  const dropJob = db.prepare("DELETE FROM batch_jobs WHERE job = ?");
  return {
    list: () => list.all(providerKey) as StoredJob[],
    remember: db.transaction(({ job, createdAt, timeouts }: StoredJob, all: readonly BatchItem[]) => {
      putJob.run(job, providerKey, createdAt, timeouts);
      for (const [ordinal, { chunkId, hash }] of all.entries()) putItem.run(job, ordinal, chunkId, hash);
    }),
    items: (job) => items.all(job) as BatchItem[],
    forget: db.transaction((job: string) => {
      dropItems.run(job);
      dropJob.run(job);
    }),
  };
}

/** Takes the jobs over into an index that is being made: what they bring is paid for. */
export function copyJobs(from: Database, to: Database): void {
  const jobs = from.prepare("SELECT job, provider_key, created_at, timeouts FROM batch_jobs").raw().all();
  const items = from.prepare("SELECT job, ordinal, chunk_id, hash FROM batch_items").raw();
  const putJob = to.prepare("INSERT INTO batch_jobs(job, provider_key, created_at, timeouts) VALUES (?, ?, ?, ?)");
  const putItem = to.prepare("INSERT INTO batch_items(job, ordinal, chunk_id, hash) VALUES (?, ?, ?, ?)");
  to.transaction(() => {
    for (const job of jobs as unknown[][]) putJob.run(...job);
    for (const item of items.iterate() as IterableIterator<unknown[]>) putItem.run(...item);
  })();
}
