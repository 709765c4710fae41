import type { Database, Statement } from "./database.ts";

const statements = new WeakMap<Database, Map<string, Statement>>();

/** The statement of this text, prepared once for each database. For texts that are few: none that grow with a question. */
export function prepared(db: Database, sql: string): Statement {
  const known = statements.get(db) ?? new Map<string, Statement>();
  statements.set(db, known);
  const statement = known.get(sql) ?? db.prepare<unknown[]>(sql);
  known.set(sql, statement);
  return statement;
}
