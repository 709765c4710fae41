import { hostname } from "node:os";
import { type PluginContext, readEnv } from "svc/sdk";
import { databaseErrors } from "./errors.ts";
import type { DriverSettings } from "./postgres-driver.ts";

/** Settings of `store.postgres` with the address resolved. @throws {SvcError} `database-unsuitable` when there is none, or it cannot be read */
export function readSettings(ctx: Pick<PluginContext, "snapshot" | "secret" | "env">): DriverSettings & { ttlMs: number } {
  const { postgres, lease } = ctx.snapshot().store;
  const url = ctx.secret("store.postgres.url") ?? readEnv(ctx.env, "SVC_POSTGRES_URL");
  const endpoint = "of store.postgres.url";
  if (url === undefined)
    throw databaseErrors.databaseUnsuitable({ endpoint, reason: "no address is set; set store.postgres.url or SVC_POSTGRES_URL" });
  // Its text is never repeated: the password stands in it.
  if (!/^postgres(ql)?:\/\/[^/\s]+/.test(url))
    throw databaseErrors.databaseUnsuitable({ endpoint, reason: "the address is not of the form postgres://user:password@host:5432/name" });
  return { url, schema: postgres.schema, pool: postgres.pool, tls: postgres.tls, ttlMs: lease.ttlMs };
}

/** Same for each start with one state folder on one machine: a lock lets only one process use it. */
export function instanceOf(stateDir: string): string {
  return `${hostname()}:${stateDir}`.slice(-200);
}
