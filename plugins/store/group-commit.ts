import type { OpResult } from "svc/sdk";
import { applyOp } from "./apply-op.ts";
import { countDeliveryLoad, type DeliveryLoad } from "./delivery-statements.ts";
import { type Failpoint, visitDeliveries, visitDelivery } from "./failpoint.ts";
import type { Sqlite, Statement } from "./native.ts";
import type { WriteOp } from "./operations.ts";
import { type PlainRefusal, Refusal } from "./refusal.ts";
import { isLocked, storageFault } from "./sqlite-fault.ts";
import { prepareWrites, type WriteStatements } from "./statements.ts";

export type CommitOutcome = { results: OpResult[] } | { refused: PlainRefusal };

export interface GroupCommit {
  /**
   * One transaction for several commits, each behind its own savepoint; returns after the fsync of the whole.
   * @throws when the storage fails; then nothing of the group is stored
   */
  run(commits: WriteOp[][]): CommitOutcome[];
}

interface Control {
  begin: Statement;
  commit: Statement;
  rollback: Statement;
  save: Statement;
  release: Statement;
  undo: Statement;
}

export function createGroupCommit(db: Sqlite, visit: (point: Failpoint) => void): GroupCommit {
  const sql = prepareWrites(db);
  const load = countDeliveryLoad(db);
  const control: Control = {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    rollback: db.prepare("ROLLBACK"),
    save: db.prepare("SAVEPOINT one"),
    release: db.prepare("RELEASE one"),
    undo: db.prepare("ROLLBACK TO one"),
  };
  return {
    run(commits) {
      visit("store.before-begin");
      control.begin.run();
      const before = { ...load };
      try {
        const outcomes = commits.map((ops) => {
          const outcome = runOne({ sql, control, load, visit }, ops);
          visit("store.after-ops");
          return outcome;
        });
        visit("store.before-commit");
        visitDeliveries(visit, commits, "before-commit");
        control.commit.run();
        visit("store.after-commit");
        visitDeliveries(visit, commits, "after-commit");
        return outcomes;
      } catch (error) {
        // SQLite has already rolled back after some errors (full, I/O).
        if (db.inTransaction) control.rollback.run();
        Object.assign(load, before);
        throw error;
      }
    },
  };
}

interface Parts {
  sql: WriteStatements;
  control: Control;
  load: DeliveryLoad;
  visit: (point: Failpoint) => void;
}

function runOne({ sql, control, load, visit }: Parts, ops: WriteOp[]): CommitOutcome {
  const before = { ...load };
  control.save.run();
  try {
    const results = ops.map((op) => {
      visitDelivery(visit, op, "before-write");
      const result = applyOp(sql, op, load);
      visitDelivery(visit, op, "after-write");
      return result;
    });
    control.release.run();
    return { results };
  } catch (error) {
    if (storageFault(error) || isLocked(error)) throw error;
    control.undo.run();
    control.release.run();
    Object.assign(load, before);
    return { refused: toRefusal(error) };
  }
}

/** Whatever is not the storage's fault is this commit's own: a failed condition, or a value the tables do not take. */
function toRefusal(error: unknown): PlainRefusal {
  if (error instanceof Refusal) return error.toPlain();
  return { code: "store-invalid-op", fields: { reason: error instanceof Error ? error.message : String(error) } };
}
