import type { FileSummary, StatusReply } from "../worker-protocol.ts";
import type { Database } from "./database.ts";
import { type BatchRunner, FAILURE_LIMIT } from "./embedding/batch.ts";
import { countCache } from "./embedding/cache.ts";
import type { OpenIndex } from "./writing.ts";

const MAX_LISTED_FILES = 1_000;

type Description = Pick<StatusReply, "sourceCounts" | "fileList" | "truncated" | "vector" | "cacheEntries" | "batch">;

/** Figures of an index by source and, when asked, its files. */
export function describeIndex(
  index: OpenIndex | undefined,
  { files, batches }: { files: boolean; batches: Pick<BatchRunner, "failures" | "lastError"> | undefined },
): Description {
  const lastError = batches?.lastError;
  const batch = { failures: batches?.failures ?? 0, limit: FAILURE_LIMIT, ...(lastError === undefined ? {} : { lastError }) };
  if (!index) {
    return {
      sourceCounts: [],
      vector: { available: false, backend: "in-process" },
      cacheEntries: 0,
      batch,
      ...(files ? { fileList: [] } : {}),
    };
  }
  const { db } = index;
  const found = { sourceCounts: countSources(db), vector: describeVectors(index), cacheEntries: countCache(db), batch };
  return files ? { ...found, ...listFiles(db) } : found;
}

function countSources(db: Database): StatusReply["sourceCounts"] {
  const sql = `SELECT source, count(*) AS files, (SELECT count(*) FROM chunks c WHERE c.source = f.source) AS chunks
    FROM files f GROUP BY source ORDER BY source`;
  return db.prepare(sql).all() as StatusReply["sourceCounts"];
}

function describeVectors({ vectors }: OpenIndex): StatusReply["vector"] {
  const { backend, loadError, dims } = vectors;
  return {
    available: loadError === undefined,
    backend,
    ...(loadError === undefined ? {} : { loadError }),
    ...(dims === undefined ? {} : { dims }),
  };
}

function listFiles(db: Database): Pick<StatusReply, "fileList" | "truncated"> {
  const sql = `SELECT path, source, mtime, (SELECT count(*) FROM chunks c WHERE c.source = f.source AND c.path = f.path) AS chunks
    FROM files f ORDER BY source, path LIMIT ?`;
  const rows = db.prepare(sql).all(MAX_LISTED_FILES + 1) as FileSummary[];
  const isCut = rows.length > MAX_LISTED_FILES;
  return { fileList: rows.slice(0, MAX_LISTED_FILES), ...(isCut ? { truncated: true } : {}) };
}
