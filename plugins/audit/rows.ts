import { isRecord, type Store, type StoreOp } from "svc/sdk";
import { type Entry, type Link, ROOT } from "./entry.ts";

/** Rows of the store that hold the log; no plugin's own rows are in it. */
const SCOPE = "gateway/audit";
const HEAD = "head";
const CHECKPOINT = "checkpoint";
/** Entries of one block: the longest list that the store gives at once. */
export const BLOCK = 1_000;

type Rows = Pick<Store, "kv" | "commit">;

/** The log as rows: an entry is inserted and never replaced. */
export interface AuditRows {
  /** The newest entry. */
  head(): Promise<Link>;
  /** The last entry that was dropped for its age. */
  checkpoint(): Promise<Link>;
  /** Entries of a block, in order; fewer where some are missing or cannot be read. */
  block(index: number): Promise<Entry[]>;
  /** Appends entries that follow each other. @throws {SvcError} `exists` when one of their places is taken, `storage-*` */
  append(entries: readonly Entry[]): Promise<void>;
  /** Replaces a block by a checkpoint. */
  drop(entries: readonly Entry[], last: Link): Promise<void>;
}

/** @param store asked for at each call, because it may come and go */
export function createRows(store: () => Rows): AuditRows {
  const link = async (key: string) => toLink(await store().kv.get(SCOPE, key)) ?? ROOT;
  return {
    head: () => link(HEAD),
    checkpoint: () => link(CHECKPOINT),
    async block(index) {
      const rows = await store().kv.list(SCOPE, `${blockName(index)}/`);
      return rows.flatMap(({ value }) => (isRecord(value) && typeof value.hash === "string" ? [value as unknown as Entry] : []));
    },
    async append(entries) {
      const last = entries.at(-1);
      if (!last) return;
      const puts = entries.map((entry): StoreOp => ({ op: "kv.put", scope: SCOPE, key: keyOf(entry.seq), value: entry, ifAbsent: true }));
      await store().commit([...puts, { op: "kv.put", scope: SCOPE, key: HEAD, value: { seq: last.seq, hash: last.hash } }]);
    },
    async drop(entries, { seq, hash }) {
      const deletes = entries.map((entry): StoreOp => ({ op: "kv.delete", scope: SCOPE, key: keyOf(entry.seq) }));
      await store().commit([...deletes, { op: "kv.put", scope: SCOPE, key: CHECKPOINT, value: { seq, hash } }]);
    },
  };
}

/** Block that an entry is in. */
export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK);
}

function keyOf(seq: number): string {
  return `${blockName(blockOf(seq))}/${String(seq).padStart(12, "0")}`;
}

function blockName(index: number): string {
  return `entry/${String(index).padStart(9, "0")}`;
}

function toLink(value: unknown): Link | undefined {
  return isRecord(value) && typeof value.seq === "number" && typeof value.hash === "string"
    ? { seq: value.seq, hash: value.hash }
    : undefined;
}
