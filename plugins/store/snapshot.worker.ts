import { parentPort, workerData } from "node:worker_threads";
import { type CheckDepth, takeSnapshot } from "./snapshots.ts";

/** Request to the thread. */
export interface SnapshotOrder {
  path: string;
  at: number;
  depth: CheckDepth;
}

/** The one answer of the snapshot thread. */
export type SnapshotAnswer = { taken: string } | { damage: string } | { failed: string };

/** Thread entry: takes one snapshot and ends. The copy and its check read every page, which is no work for the thread that writes. */
const order = workerData as SnapshotOrder;
void takeSnapshot(order.path, order)
  .then((found): SnapshotAnswer => ("damage" in found ? found : { taken: found.path }), toAnswer)
  .then((answer) => parentPort?.postMessage(answer));

function toAnswer(error: unknown): SnapshotAnswer {
  const { code } = error as { code?: unknown };
  const message = error instanceof Error ? error.message : String(error);
  return /^SQLITE_(CORRUPT|NOTADB)/.test(String(code)) ? { damage: message } : { failed: message };
}
