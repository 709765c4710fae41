import type { Row } from "./database.ts";
import { cleanText } from "./rows.ts";

/** Owners that hold a lease of a gateway that lives; by the clock of the database. */
export const liveOwners =
  "SELECT l.owner FROM lease l JOIN gateway g ON g.id = l.gateway_id WHERE l.owner IS NOT NULL AND g.fenced_at IS NULL AND g.lease_until > clock_timestamp()";

export interface ReadKit {
  query(text: string, params?: ReadonlyArray<string | number | null>): Promise<Row[]>;
  /** A row whose JSON does not parse; it is skipped. */
  onUnreadable(table: string, row: unknown): void;
}

/** The protocol has no U+0000: what no row can be called finds none. */
export const clean = (value: string | number | null) => (typeof value === "string" ? cleanText(value) : value);
