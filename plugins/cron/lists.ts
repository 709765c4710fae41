import { createHash } from "node:crypto";
import type { ParamsOf, Store } from "svc/sdk";
import { type Job, type LogEntry, wireJob } from "./job.ts";
import type { JobRows } from "./rows.ts";
import { newestFirst, REMOVED } from "./run-log.ts";

const DEFAULT_LIMIT = 50;

interface Page {
  total: number;
  offset: number;
  limit: number;
  hasMore: boolean;
  nextOffset: number | null;
}

function pageOf(total: number, { offset = 0, limit = DEFAULT_LIMIT }: { offset?: number | undefined; limit?: number | undefined }): Page {
  const end = offset + limit;
  const hasMore = end < total;
  return { total, offset, limit, hasMore, nextOffset: hasMore ? end : null };
}

/** A page of jobs. The revision is that of the whole filtered set, so that a pager notices when it changes between pages. */
export function listJobs(all: Iterable<Job>, question: ParamsOf<"cron.list">) {
  const { includeDisabled = false, query, agentId, sortBy = "nextRunAtMs", sortDir = "asc" } = question;
  const words = query?.trim().toLowerCase() ?? "";
  const found = [...all].filter(
    (job) =>
      (includeDisabled || job.enabled) &&
      (agentId === undefined || job.agentId === agentId) &&
      (words === "" || `${job.id} ${job.name} ${textOf(job)}`.toLowerCase().includes(words)),
  );
  const factor = sortDir === "asc" ? 1 : -1;
  found.sort((a, b) => factor * compare(a, b, sortBy) || (a.id < b.id ? -1 : 1));
  const hash = createHash("sha256");
  for (const { id, configRevision, enabled } of found.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    hash.update(`${id} ${configRevision} ${enabled}\n`);
  const page = pageOf(found.length, question);
  const jobs = found.slice(page.offset, page.offset + page.limit).map(wireJob);
  return { jobs, snapshotRevision: hash.digest("hex").slice(0, 32), ...page };
}

function compare(a: Job, b: Job, by: "nextRunAtMs" | "name" | "createdAtMs" | "updatedAtMs"): number {
  if (by === "name") return a.name.localeCompare(b.name);
  if (by !== "nextRunAtMs") return a[by] - b[by];
  const next = ({ enabled, state }: Job) => (enabled ? (state.nextRunAtMs ?? Number.MAX_VALUE) : Number.MAX_VALUE);
  return next(a) - next(b);
}

function textOf({ payload }: Job): string {
  return payload.kind === "agentTurn" ? payload.message : payload.text;
}

interface Logs {
  jobs: Iterable<Job>;
  rows: JobRows;
  store: () => Pick<Store, "kv">;
}

/** Ends of runs, the newest first: of one job, or of all, those that are gone included. */
export async function listRuns({ id, runId, ...question }: ParamsOf<"cron.runs">, { jobs, rows, store }: Logs, signal: AbortSignal) {
  const removed = await rows.removedLog();
  const known = [...jobs].filter((job) => id === undefined || job.id === id);
  const logs = known.map((job) => ({ owner: job.id, place: job.log }));
  const sources = [...logs, { owner: REMOVED, place: removed }];
  const streams = sources.map(({ owner, place }) => newestFirst(store(), owner, place));
  const page = pageOf(0, question);
  const entries: LogEntry[] = [];
  const isMeant = (entry: LogEntry) => (id === undefined || entry.jobId === id) && (runId === undefined || entry.runId === runId);
  // Without a filter the places tell how many there are; with one, the entries are counted.
  const isCounted = runId !== undefined || (id !== undefined && removed.next > removed.first);
  let total = 0;
  for await (const entry of inOrder(streams)) {
    signal.throwIfAborted();
    if (!isMeant(entry)) continue;
    total += 1;
    if (total > page.offset && entries.length < page.limit) entries.push(entry);
    if (!isCounted && entries.length === page.limit) break;
  }
  if (!isCounted) {
    const counted = id === undefined ? sources : logs;
    total = counted.reduce((sum, { place }) => sum + place.next - place.first, 0);
  }
  return { entries, ...pageOf(total, question) };
}

/** Entries of several logs as one, the newest first. */
async function* inOrder(streams: ReadonlyArray<AsyncGenerator<LogEntry>>): AsyncGenerator<LogEntry> {
  const heads = await Promise.all(streams.map((stream) => stream.next()));
  for (;;) {
    let newest = -1;
    for (const [i, head] of heads.entries()) {
      const best = heads[newest];
      if (!head.done && (!best || best.done || head.value.ts > best.value.ts)) newest = i;
    }
    const [head, stream] = [heads[newest], streams[newest]];
    if (!head || head.done || !stream) return;
    yield head.value;
    heads[newest] = await stream.next();
  }
}
