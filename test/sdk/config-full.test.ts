import { expect, test } from "vitest";
import { coreConfigSchema } from "../../kernel/config/compose-schema.ts";
import { crossFieldIssues } from "../../kernel/config/cross-field.ts";
import { memoryBackendId } from "../../plugins/memory-core/backend/backend-id.ts";
import { type SchemaNode, schemaRows } from "../tools/docs/schema-rows.ts";
import { effective, issuesOf, nowhere, valueAt } from "./_config.ts";
import { fullConfig } from "./_full-config.ts";

/** Values at a path of the reference: `<name>` is any name, `[]` any member. */
function valuesAt(tree: unknown, path: string): unknown[] {
  const steps = path.replaceAll("[]", ".[]").split(".");
  return steps.reduce<unknown[]>(
    (nodes, step) =>
      nodes.flatMap((node) => {
        if (typeof node !== "object" || node === null) return [];
        if (step === "<name>" || step === "[]") return Object.values(node);
        return Object.hasOwn(node, step) ? [(node as Record<string, unknown>)[step]] : [];
      }),
    [tree],
  );
}

test("a file with every key of the reference is valid", () => {
  expect(issuesOf(fullConfig)).toEqual([]);
  expect(crossFieldIssues(effective(fullConfig), "svc.json", nowhere)).toEqual([]);
});

test("every key of the reference is in it, with another value than its default", () => {
  const rows = schemaRows(coreConfigSchema() as SchemaNode);
  const values = rows.map((row) => ({ path: row.path, values: valuesAt(fullConfig, row.path), default: row.default }));
  expect(values.filter((row) => row.values.length === 0).map((row) => row.path)).toEqual([]);

  const constants = new Set([
    "gateway.bind",
    "agents.defaults.memorySearch.fallback",
    "agents.list[].memorySearch.fallback",
    "secrets.defaults.env",
  ]);
  const same = values.filter((row) => row.default !== "" && row.values.every((value) => JSON.stringify(value) === row.default));
  expect(same.map((row) => row.path).filter((path) => !constants.has(path) && !/\.(api|auth|mode)$/.test(path))).toEqual([]);
});

test("amounts with units are kept as the numbers their keys name", () => {
  const config = effective(fullConfig);
  const amounts: Record<string, unknown> = {
    "gateway.auth.rateLimit.windowMs": 120_000,
    "gateway.channelStaleEventThresholdMinutes": 60,
    "gateway.http.maxBodyBytes": 10_000_000,
    "agents.defaults.timeoutSeconds": 1_200,
    "agents.defaults.heartbeat.every": 3_600_000,
    "agents.defaults.memorySearch.remote.batch.timeoutMinutes": 120,
    "memory.sidecar.sessions.retentionDays": 30,
    "memory.sidecar.update.interval": 600_000,
    "memory.sidecar.update.embedInterval": 1_800_000,
    "session.maintenance.pruneAfter": 604_800_000,
    "session.maintenance.highWaterBytes": 500_000_000,
    "session.reset.idleMinutes": 120,
    "cron.sessionRetention": 172_800_000,
    "plugins.reload.drainMs": 5_000,
  };
  expect(Object.fromEntries(Object.keys(amounts).map((path) => [path, valueAt(config, path)]))).toEqual(amounts);
});

test("the other name of the second engine is the engine", () => {
  expect(["qmd", "sidecar", "attic"].map((backend) => memoryBackendId(effective({ memory: { backend } })))).toEqual([
    "sidecar",
    "sidecar",
    "attic",
  ]);
});

test("bodies that belong to others are kept as they are", () => {
  const config = effective(fullConfig);
  expect(valueAt(config, "channels.irc.nick")).toBe("svc");
  expect(valueAt(config, "channels.irc.accounts.work.nick")).toBe("svc-work");
  expect(valueAt(config, "plugins.entries.channel-irc.config")).toEqual({ anything: true });
  expect(valueAt(config, "models.providers.acme.params")).toEqual({ store: false });
});
