import { isRecord, type Store, type StoreOp, type SvcConfig } from "svc/sdk";
import { CRON_SCOPE, type CronLogPlace } from "svc/sdk/internal";
import type { LogEntry } from "./job.ts";

/** Entries that are read at once. */
const BLOCK = 100;
/** Entries that one append drops at most: a limit that was lowered is reached step by step. */
const MAX_DROPPED = 200;

/** Log of runs whose jobs are gone. */
export const REMOVED = "removed";

export type LogLimits = SvcConfig["cron"]["runLog"];

type Kv = Pick<Store, "kv">;

/** The ops that append an entry to a log and drop the oldest ones beyond the limits, and the place after it. */
export async function appendOps(
  store: Kv,
  { owner, place, entry }: { owner: string; place: CronLogPlace; entry: LogEntry },
  limits: LogLimits,
): Promise<{ ops: StoreOp[]; place: CronLogPlace }> {
  const after = { first: place.first, next: place.next + 1, bytes: place.bytes + sizeOf(entry) };
  const ops: StoreOp[] = [{ op: "kv.put", scope: CRON_SCOPE, key: keyOf(owner, place.next), value: entry }];
  let sizes = new Map<number, number>();
  const isOver = () => after.next - after.first > 1 && (after.next - after.first > limits.keepLines || after.bytes > limits.maxBytes);
  for (let dropped = 0; isOver() && dropped < MAX_DROPPED; dropped += 1) {
    if (!sizes.has(after.first)) sizes = await sizesIn(store, owner, after.first);
    ops.push({ op: "kv.delete", scope: CRON_SCOPE, key: keyOf(owner, after.first) });
    after.bytes = Math.max(0, after.bytes - (sizes.get(after.first) ?? 0));
    after.first += 1;
  }
  return { ops, place: after };
}

/** The ops that drop a whole log, at most so many entries as it has. */
export function dropOps(owner: string, { first, next }: CronLogPlace): StoreOp[] {
  return Array.from({ length: next - first }, (_, i) => ({ op: "kv.delete", scope: CRON_SCOPE, key: keyOf(owner, first + i) }));
}

/** Entries of a log, the newest first, read block by block. */
export async function* newestFirst(store: Kv, owner: string, { first, next }: CronLogPlace): AsyncGenerator<LogEntry> {
  for (let block = blockOf(next - 1); block >= blockOf(first) && next > first; block -= 1) {
    const rows = await store.kv.list(CRON_SCOPE, prefixOf(owner, block));
    for (const { value } of rows.toReversed()) if (isEntry(value)) yield value;
  }
}

async function sizesIn(store: Kv, owner: string, seq: number): Promise<Map<number, number>> {
  const rows = await store.kv.list(CRON_SCOPE, prefixOf(owner, blockOf(seq)));
  // An entry that is missing has no size.
  const sizes = new Map([[seq, 0]]);
  for (const { key, value } of rows) sizes.set(Number(key.slice(key.lastIndexOf("/") + 1)), sizeOf(value));
  return sizes;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function isEntry(value: unknown): value is LogEntry {
  return isRecord(value) && typeof value.ts === "number" && typeof value.runId === "string" && typeof value.jobId === "string";
}

function blockOf(seq: number): number {
  return Math.floor(Math.max(0, seq) / BLOCK);
}

function prefixOf(owner: string, block: number): string {
  return `log/${owner}/${String(block).padStart(8, "0")}/`;
}

function keyOf(owner: string, seq: number): string {
  return `${prefixOf(owner, blockOf(seq))}${String(seq).padStart(10, "0")}`;
}
