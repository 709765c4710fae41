import type { FileSummary, StatusReply } from "../worker-protocol.ts";
import type { Database } from "./database.ts";

const MAX_LISTED_FILES = 1_000;

/** Figures of an index by source and, when asked, its files. */
export function describeIndex(db: Database | undefined, files: boolean): Pick<StatusReply, "sourceCounts" | "fileList" | "truncated"> {
  if (!db) return { sourceCounts: [], ...(files ? { fileList: [] } : {}) };
  const bySource = `SELECT source, count(*) AS files, (SELECT count(*) FROM chunks c WHERE c.source = f.source) AS chunks
    FROM files f GROUP BY source ORDER BY source`;
  const sourceCounts = db.prepare(bySource).all() as StatusReply["sourceCounts"];
  if (!files) return { sourceCounts };
  const list = `SELECT path, source, mtime, (SELECT count(*) FROM chunks c WHERE c.source = f.source AND c.path = f.path) AS chunks
    FROM files f ORDER BY source, path LIMIT ?`;
  const rows = db.prepare(list).all(MAX_LISTED_FILES + 1) as FileSummary[];
  const isCut = rows.length > MAX_LISTED_FILES;
  return { sourceCounts, fileList: rows.slice(0, MAX_LISTED_FILES), ...(isCut ? { truncated: true } : {}) };
}
