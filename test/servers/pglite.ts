import { randomBytes } from "node:crypto";
import { PGlite } from "@electric-sql/pglite";
import type { Database, Link, Row } from "../../plugins/store-postgres/database.ts";

/**
 * PostgreSQL in the process, for the SQL: it has one session, so races need a server. Each schema is a store of its own; they are used one after the other.
 */
export async function openPglite(): Promise<{
  tempSchema(): Promise<{ schema: string; database: Database; drop(): Promise<void> }>;
  close(): Promise<void>;
}> {
  const db = await PGlite.create({ parsers: { 20: Number } });
  const link: Link = {
    query: async (text, params = []) => (await db.query<Row>(text, [...params])).rows,
    async script(text) {
      await db.exec(text);
    },
    close: async () => undefined,
  };
  const database: Database = {
    link: () => link,
    async listen(channel, { onNotice, onListen }) {
      const unlisten = await db.listen(channel, onNotice);
      onListen();
      return { close: () => unlisten() };
    },
  };
  return {
    async tempSchema() {
      const schema = `svc_${randomBytes(6).toString("hex")}`;
      await db.exec(`SET search_path TO ${schema}`);
      return { schema, database, drop: () => link.script(`DROP SCHEMA ${schema} CASCADE`) };
    },
    close: () => db.close(),
  };
}
