import { chmodSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { minReaderOf, versionOf } from "../migrate.ts";
import { openConnection } from "../native.ts";
import { type PlainRefusal, Refusal } from "../refusal.ts";
import { findDamage, syncFile } from "../snapshots.ts";

/** Request to the thread. */
export type DatabaseOrder = { do: "copy"; source: string; target: string } | { do: "check"; source: string };

/** Versions of a database: the schema, and the oldest one whose programs may use it. */
export interface DatabaseVersions {
  schema: number;
  minReader: number;
}

/** Answers of the thread: how far it is, then how it ended. */
export type DatabaseAnswer = { share: number } | { versions: DatabaseVersions } | { failed: string } | { refusal: PlainRefusal };

/** Pages of one step, 2 MB of them: between two steps the thread can be ended. */
const pagesPerStep = 500;

/** Thread entry: copies or checks one database and ends. */
const order = workerData as DatabaseOrder;
const say = (answer: DatabaseAnswer) => parentPort?.postMessage(answer);
void work().then(
  (versions) => say({ versions }),
  (error: unknown) => say(failureOf(error)),
);

async function work(): Promise<DatabaseVersions> {
  if (order.do === "copy") await copy(order.source, order.target);
  return check(order.do === "copy" ? order.target : order.source);
}

async function copy(source: string, target: string): Promise<void> {
  const db = await openConnection(source, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    // As long as this lasts the copy sees one moment, however many steps it takes, and nobody who writes waits for it.
    db.exec("BEGIN");
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    await db.backup(target, {
      progress({ totalPages, remainingPages }) {
        if (totalPages > 0) say({ share: 1 - remainingPages / totalPages });
        return pagesPerStep;
      },
    });
  } finally {
    db.close();
  }
  chmodSync(target, 0o600);
}

/** @throws when a page is damaged */
async function check(path: string): Promise<DatabaseVersions> {
  const db = await openConnection(path, order.do === "copy" ? {} : { readonly: true, fileMustExist: true });
  try {
    // The copy is one file without a log beside it.
    if (order.do === "copy") db.pragma("journal_mode = DELETE");
    const damage = findDamage(db, "quick");
    if (damage !== undefined) throw new Error(damage);
    return { schema: versionOf(db), minReader: minReaderOf(db) };
  } finally {
    db.close();
    if (order.do === "copy") syncFile(path);
  }
}

function failureOf(error: unknown): DatabaseAnswer {
  if (error instanceof Refusal) return { refusal: error.toPlain() };
  return { failed: error instanceof Error ? error.message : String(error) };
}
