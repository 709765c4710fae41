import type { Sqlite } from "./native.ts";
import { createReader, type Reads } from "./reader.ts";
import type { ReaderNotices } from "./row-reader.ts";

export interface SwitchedReader {
  readonly reads: Reads;
  /** From now on another connection is read from; the old one is closed. */
  switchTo(db: Sqlite): void;
  close(): void;
}

/** The reads of the store on a connection that can be replaced: statements belong to one connection, callers keep one object. */
export function createSwitchedReader(
  first: Sqlite,
  notices: { onUnreadable: ReaderNotices["onUnreadable"]; toError(error: unknown, isOpen: boolean): unknown },
): SwitchedReader {
  let db = first;
  const readsOf = (connection: Sqlite) =>
    createReader(connection, { onUnreadable: notices.onUnreadable, toError: (error) => notices.toError(error, connection.open) });
  let reads = readsOf(db);
  return {
    reads: forward(() => reads),
    switchTo(next) {
      const old = db;
      db = next;
      reads = readsOf(next);
      old.close();
    },
    close: () => db.close(),
  };
}

/** The same methods, each looked up when it is called. */
function forward<T extends object>(current: () => T): T {
  const names = Object.keys(current()) as Array<keyof T & string>;
  return Object.fromEntries(
    names.map((name) => {
      const member: unknown = current()[name];
      if (typeof member !== "function") return [name, forward(() => current()[name] as object)];
      return [name, (...values: unknown[]) => (current()[name] as (...given: unknown[]) => unknown)(...values)];
    }),
  ) as T;
}
