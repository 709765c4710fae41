import type { Statement } from "./native.ts";
import type { Columns } from "./rows.ts";

/** Maximum number of unreadable rows that are skipped before a page ends early. */
export const mostSkipped = 1_000;

export interface ReaderNotices {
  /** A row whose JSON does not parse; it is skipped. */
  onUnreadable(table: string, row: unknown): void;
  /** The error to throw instead of one of SQLite's own. */
  toError(error: unknown): unknown;
}

export type RowReader = ReturnType<typeof createRowReader>;

/** Runs read statements and decodes what they yield. */
export function createRowReader(notices: ReaderNotices) {
  const guard = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw notices.toError(error);
    }
  };
  const decodeOr = <Row>(table: string, columns: Columns, decode: (columns: Columns) => Row): Row | undefined => {
    try {
      return decode(columns);
    } catch {
      notices.onUnreadable(table, columns.row ?? columns.key);
      return undefined;
    }
  };
  return {
    guard,
    one<Row>(table: string, statement: Statement, keys: string[], decode: (columns: Columns) => Row): Row | undefined {
      const columns = guard(() => statement.get(...keys)) as Columns | undefined;
      return columns && decodeOr(table, columns, decode);
    },
    /** Up to `limit` readable rows of what the statement yields; of those with a `body`, one or as many as have `maxBytes` together. */
    some<Row>(table: string, found: () => Iterable<unknown>, decode: (columns: Columns) => Row, limit: number, maxBytes?: number): Row[] {
      return guard(() => {
        const rows: Row[] = [];
        let left = maxBytes;
        for (const columns of found() as Iterable<Columns>) {
          const bytes = left === undefined ? 0 : Buffer.byteLength(String(columns.body));
          if (left !== undefined && rows.length > 0 && !(bytes <= left)) break;
          const row = decodeOr(table, columns, decode);
          if (row === undefined) continue;
          if (left !== undefined) left -= bytes;
          if (rows.push(row) >= limit) break;
        }
        return rows;
      });
    },
  };
}
