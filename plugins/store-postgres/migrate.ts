import { messageOf } from "svc/sdk";
import type { Link } from "./database.ts";
import { databaseErrors } from "./errors.ts";
import { faultText } from "./faults.ts";
import { type SchemaStep, schemaSteps } from "./schema.ts";

interface Options {
  schema: string;
  endpoint: string;
  steps?: readonly SchemaStep[];
}

/**
 * Brings the schema up to date, step by step, each in one transaction under an advisory lock: of several gateways that start at once one does it, and the others
 * find it done.
 * @throws {SvcError} `schema-too-new`, `schema-migration-failed`
 */
export async function migrate(link: Link, { schema, endpoint, steps = schemaSteps }: Options): Promise<{ from: number; to: number }> {
  const known = steps.at(-1)?.version ?? 0;
  const from = await versionOf(link, schema);
  if (from && from.minReader > known) {
    throw databaseErrors.schemaTooNew({ endpoint, schema, found: from.version, needed: from.minReader, known });
  }
  for (const step of steps.filter(({ version }) => version > (from?.version ?? 0))) {
    try {
      await link.script(stepScript(step, schema));
    } catch (error) {
      // Another gateway has done it meanwhile: its transaction was waited for, and this one found the version taken.
      const now = await versionOf(link, schema).catch(() => undefined);
      if (now && now.version >= step.version) continue;
      const reason = error instanceof Error && "code" in error ? faultText(error) : messageOf(error);
      throw databaseErrors.schemaMigrationFailed({ endpoint, version: step.version, reason }, { cause: error });
    }
  }
  return { from: from?.version ?? 0, to: Math.max(known, from?.version ?? 0) };
}

async function versionOf(link: Link, schema: string): Promise<{ version: number; minReader: number } | undefined> {
  const [there] = await link.query("SELECT to_regclass($1)::text AS name", [`${schema}.schema_info`]);
  if (typeof there?.name !== "string") return undefined;
  const [row] = await link.query(`SELECT version, min_reader FROM ${schema}.schema_info`);
  return { version: Number(row?.version), minReader: Number(row?.min_reader) };
}

/** One text of many statements is one transaction. */
function stepScript({ version, minReader = version, sql }: SchemaStep, schema: string): string {
  return `SELECT pg_advisory_xact_lock(hashtextextended('svc migration ${schema}', 0));
CREATE SCHEMA IF NOT EXISTS ${schema};
SET LOCAL search_path TO ${schema};
CREATE TABLE IF NOT EXISTS schema_info (id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL, min_reader integer NOT NULL);
INSERT INTO schema_info VALUES (1, 0, 0) ON CONFLICT DO NOTHING;
DO $step$ BEGIN
  IF (SELECT version FROM schema_info) <> ${version - 1} THEN RAISE EXCEPTION 'another gateway has migrated the schema meanwhile'; END IF;
END $step$;
${sql}
UPDATE schema_info SET version = ${version}, min_reader = ${minReader};`;
}
