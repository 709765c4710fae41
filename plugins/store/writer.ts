import { readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { createFailpoint, type Failpoint } from "./failpoint.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";
import type { Sqlite } from "./native.ts";
import { openDatabase } from "./open-database.ts";
import { identify, identityOf, isSameFile } from "./open-files.ts";
import { Refusal } from "./refusal.ts";
import { nextFile } from "./restore.ts";
import { createRetention, type Retention } from "./retention.ts";
import { schemaSteps } from "./schema.ts";
import { copyWhole, syncFile } from "./snapshots.ts";
import { isLocked, storageFault } from "./sqlite-fault.ts";
import {
  type FileIdentity,
  faultAt,
  type StorageFaults,
  type WriterReply,
  type WriterRequest,
  type WriterSetup,
} from "./writer-messages.ts";

const probeBytes = 64 * 1024;

interface OpenWriter {
  db: Sqlite;
  group: GroupCommit;
  retention: Retention;
}

/** The one writer of the database: answers requests of `writer-messages.ts`; lives in the worker thread. */
export function createWriter(setup: WriterSetup): { handle(request: WriterRequest): Promise<WriterReply>; visit(point: Failpoint): void } {
  const visit = createFailpoint(setup.failpoint);
  let open: OpenWriter | undefined;
  let { again, path } = setup;

  async function openWriter(): Promise<{ writer: OpenWriter; reply: WriterReply }> {
    const { db, ...rest } = await openDatabase({ path, now: setup.now, steps: schemaSteps, visit, again });
    if (!again) forgetLeases(db);
    again = true;
    open = { db, group: createGroupCommit(db, visit), retention: createRetention(db) };
    return { writer: open, reply: { type: "opened", ...rest, files: identify(path), ...lastSeen(db) } };
  }

  async function rescue({ db }: OpenWriter, { moveTo, ownLog }: Extract<WriterRequest, { type: "rescue" }>): Promise<WriterReply> {
    try {
      await copyForRescue(db, moveTo);
    } catch (error) {
      // The open handle is all there is of the database: whatever is wrong, it stays open.
      return { type: "failed", fault: storageFault(error) ?? "io", message: error instanceof Error ? error.message : String(error) };
    }
    completeRescue(db, { from: path, to: moveTo, ownLog });
    open = undefined;
    path = moveTo;
    await openWriter();
    return { type: "rescued", path, files: identify(path) };
  }

  /** After an I/O error SQLite's view of the file is in doubt (a failed fsync is not repeatable): the next request opens it anew. */
  function drop(): void {
    try {
      open?.db.close();
    } finally {
      open = undefined;
    }
  }

  async function answer(request: WriterRequest): Promise<WriterReply> {
    if (request.type === "open") return (await openWriter()).reply;
    if (request.type === "close") return close(open);
    const writer = open ?? (await openWriter()).writer;
    applyFaults(writer.db, setup.faults);
    switch (request.type) {
      case "group":
        return { type: "group", outcomes: writer.group.run(request.commits) };
      case "probe":
        return probe(writer.db);
      case "checkpoint":
        writer.db.pragma("wal_checkpoint(PASSIVE)");
        return { type: "healthy" };
      case "maintain":
        return { type: "maintained", more: writer.retention.step(request.now) };
      case "rescue":
        return rescue(writer, request);
    }
  }

  return {
    visit,
    async handle(request) {
      try {
        return await answer(request);
      } catch (error) {
        const fault = storageFault(error) ?? (isLocked(error) ? "locked" : undefined);
        if (fault === "io" || fault === "corrupt") drop();
        if (fault) return { type: "failed", fault, message: (error as Error).message };
        if (error instanceof Refusal) return { type: "refused", refusal: { code: error.code, fields: error.fields } };
        throw error;
      }
    },
  };
}

/** Time of the newest session or run: a clock far past it is not believed at once. */
function lastSeen(db: Sqlite): { lastSeenAt?: number } {
  try {
    const at = db
      .prepare(
        "SELECT max(coalesce((SELECT max(updated_at) FROM sessions), 0), coalesce((SELECT created_at FROM runs ORDER BY row DESC LIMIT 1), 0))",
      )
      .pluck()
      .get() as number;
    return at > 0 ? { lastSeenAt: at } : {};
  } catch (error) {
    // Readers of the rows meet the damage as well, and deal with it.
    if (storageFault(error) === undefined) throw error;
    return {};
  }
}

/** The state folder belongs to one process: whoever held a lease before it is gone. A full disk keeps the rows, and must not keep the gateway from starting. */
function forgetLeases(db: Sqlite): void {
  try {
    db.exec("DELETE FROM leases");
  } catch (error) {
    const fault = storageFault(error);
    if (fault !== "full" && fault !== "readonly") throw error;
  }
}

/** Takes new pages and gives them back: a full disk would refuse it where rewriting one page would pass. */
function probe(db: Sqlite): WriterReply {
  const { lastInsertRowid } = db.prepare("INSERT INTO probe (filler) VALUES (zeroblob(?))").run(probeBytes);
  db.prepare("DELETE FROM probe WHERE id <= ?").run(lastInsertRowid);
  return { type: "healthy" };
}

function close(open: OpenWriter | undefined): WriterReply {
  try {
    open?.db.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    open?.db.close();
  }
  return { type: "closed" };
}

/**
 * Writes an open database, whose file has lost its name, to a file beside its future place. Nothing else has changed when it fails.
 * @param to the old name, when nobody else has taken it, or another one
 */
async function copyForRescue(db: Sqlite, to: string): Promise<void> {
  const next = nextFile(to);
  const temp = `${next}.tmp`;
  const damage = await copyWhole(db, temp, "quick");
  if (damage !== undefined) throw Object.assign(new Error(damage), { name: "SqliteError", code: "SQLITE_CORRUPT" });
  renameSync(temp, next);
  syncFile(dirname(to));
}

/**
 * Closes the database and gives the copy its name. The log beside the old name is removed when it is ours: SQLite would apply it to whatever file stands
 * there at the next start.
 */
function completeRescue(db: Sqlite, { from, to, ownLog }: { from: string; to: string; ownLog: FileIdentity | undefined }): void {
  // SQLite sees that its file is not the one of that name any more, and neither empties nor removes the log.
  db.close();
  const isOwnLog = from === to || isSameFile(identityOf(`${from}-wal`), ownLog);
  if (isOwnLog) for (const suffix of ["-wal", "-shm"]) rmSync(from + suffix, { force: true });
  renameSync(nextFile(to), to);
  syncFile(dirname(to));
}

const noPageLimit = 4_294_967_294;

/** Makes the planned faults real. SQLite itself runs out of pages or refuses to write; an I/O error is thrown as SQLite throws one. */
function applyFaults(db: Sqlite, faults: StorageFaults | undefined): void {
  if (!faults) return;
  const named = faults instanceof Int32Array ? undefined : textOf(faults.file);
  const isOn = (fault: keyof typeof faultAt) =>
    faults instanceof Int32Array ? Atomics.load(faults, faultAt[fault]) === 1 : named === fault;
  db.pragma(`max_page_count = ${isOn("full") ? 1 : noPageLimit}`);
  db.pragma(`query_only = ${isOn("readonly") ? 1 : 0}`);
  if (isOn("io")) throw Object.assign(new Error("disk I/O error"), { name: "SqliteError", code: "SQLITE_IOERR_WRITE" });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
