import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Leases, Logger, Store } from "svc/sdk";
import { vendorIn } from "svc/sdk/testing";
import type { Database } from "../../plugins/store-postgres/database.ts";
import { type OpenStore, type OpenStoreOptions, openStore } from "../../plugins/store-postgres/open-store.ts";
import { createPostgresDriver, type PostgresLibrary } from "../../plugins/store-postgres/postgres-driver.ts";

/** The driver of the product, from the plugin's own packages. */
export async function loadPostgres(): Promise<PostgresLibrary> {
  const loaded = await vendorIn(join(import.meta.dirname, "../../plugins/store-postgres")).load<{ default: PostgresLibrary }>("postgres");
  return loaded.default;
}

/** A database behind an address, in a schema of its own. */
export async function tempSchema(url: string): Promise<{ schema: string; database: Database; drop(): Promise<void> }> {
  const library = await loadPostgres();
  const schema = `svc_${randomBytes(6).toString("hex")}`;
  const database = createPostgresDriver(library, { url, schema, pool: 4, tls: "off" });
  return {
    schema,
    database,
    async drop() {
      await runScript(database, `DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    },
  };
}

/** Opens a store as a gateway would. */
export function openTemp(database: Database, schema: string, options: Partial<OpenStoreOptions> = {}): Promise<OpenStore> {
  return openStore({
    database,
    schema,
    endpoint: `postgres://test#${schema}`,
    identity: { bootId: randomBytes(6).toString("hex"), instance: randomBytes(6).toString("hex"), version: "0.0.0" },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    logger: silentLogger,
    ttlMs: 10_000,
    ...options,
  });
}

const silent = () => undefined;
export const silentLogger: Logger = { trace: silent, debug: silent, info: silent, warn: silent, error: silent, child: () => silentLogger };

/** A store for the conformance suite, in a schema that goes with it. @param defect SQL that replaces a function */
export async function createSubject(
  { schema, database, drop }: Awaited<ReturnType<typeof tempSchema>>,
  { defect, ...options }: Partial<OpenStoreOptions> & { defect?: string } = {},
): Promise<{ store: Store; leases: Leases; dispose(): Promise<void> }> {
  const { service, leases, close } = await openTemp(database, schema, options);
  if (defect !== undefined) await runScript(database, defect);
  return {
    store: service,
    leases,
    async dispose() {
      await close();
      await drop();
    },
  };
}

/** Runs statements in the schema of a database. */
export async function runScript(database: Database, text: string): Promise<void> {
  const link = database.link("writer");
  await link.script(text);
  await link.close();
}
