import type { Database } from "./database.ts";
import { prepared } from "./prepared.ts";

/** Words of a few hundred questions. */
const MAX_TERMS = 2_000;

interface Counts {
  /** Of the database; with another one the numbers are others. */
  state: string;
  known: Map<string, number>;
}

const kept = new WeakMap<Database, Counts>();

/**
 * Numbers of passages that have a term, kept while nothing is written to the index by anybody: the database counts them one by one, and words such as
 * "where" are in every question.
 * @returns the number that is kept under a name, or else what `count` gives
 */
export function termCounts(db: Database): (name: string, count: () => unknown) => number {
  // A transaction may be rolled back, and what was counted within it would stay.
  if (db.inTransaction) return (_name, count) => Number(count());
  const state = `${prepared(db, "PRAGMA data_version").pluck().get()} ${prepared(db, "SELECT total_changes()").pluck().get()}`;
  let counts = kept.get(db);
  if (counts?.state !== state) {
    counts = { state, known: new Map() };
    kept.set(db, counts);
  }
  const { known } = counts;
  return (name, count) => {
    const found = known.get(name) ?? Number(count());
    if (known.size >= MAX_TERMS) known.clear();
    known.set(name, found);
    return found;
  };
}
