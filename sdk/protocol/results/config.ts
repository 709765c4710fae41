import { z } from "zod";
import { configIssue, count } from "./fields.ts";

/** Answer of every config writer. */
const written = z
  .object({
    ok: z.literal(true),
    path: z.string().describe("file that was written"),
    hash: z.string().describe("`baseHash` of the next write"),
    config: z.unknown().describe("effective config, redacted"),
    changedPaths: z.array(z.string()),
    action: z.enum(["none", "hot", "restart", "persisted"]),
    pendingRestart: z.array(z.string()).describe("paths whose old value stays in force until a restart"),
    noop: z.literal(true).exactOptional().describe("nothing differed, nothing was written"),
    issues: z.array(configIssue).exactOptional().describe("why the written config was not applied"),
  })
  .meta({ id: "ConfigWritten" });

const schemaNode = z.record(z.string(), z.unknown());

const uiHint = z.looseObject({
  label: z.string().exactOptional(),
  help: z.string().exactOptional(),
  sensitive: z.boolean().exactOptional(),
  placeholder: z.string().exactOptional(),
  advanced: z.boolean().exactOptional(),
});

const configFile = z.object({
  path: z.string(),
  exists: z.boolean(),
  raw: z.string().describe("text of the file, redacted"),
  parsed: z.unknown().optional().describe("as it is written, redacted; absent when it cannot be read"),
  config: z.unknown().optional().describe("with defaults, redacted; absent when it is not valid"),
  valid: z.boolean(),
  hash: z.string(),
  issues: z.array(configIssue),
  warnings: z.array(configIssue),
  pendingRestart: z.array(z.string()),
});

const lookup = z.object({
  path: z.string(),
  schema: schemaNode.describe("JSON Schema of the node alone"),
  reloadKind: z.enum(["restart", "hot", "none"]),
  hint: uiHint.exactOptional(),
  children: z.array(z.object({ key: z.string(), path: z.string(), type: z.string(), required: z.boolean(), hasChildren: z.boolean() })),
});

const secretsResolved = z.object({
  ok: z.literal(true),
  assignments: z.array(z.object({ path: z.string(), pathSegments: z.array(z.string()), value: z.string() })),
  diagnostics: z.array(z.string()).describe("what has no fresh value, and why"),
  inactiveRefPaths: z.array(z.string()).describe("references of what is switched off"),
});

/** Answers about config and secrets. */
export const configResults = {
  "config.get": configFile,
  "config.set": written,
  "config.apply": written,
  "config.patch": written,
  "config.schema": z.object({
    schema: schemaNode,
    uiHints: z.record(z.string(), uiHint).describe("by config path"),
    version: z.string(),
    generatedAt: z.iso.datetime(),
  }),
  "config.schema.lookup": lookup,
  "secrets.reload": z.object({
    ok: z.literal(true),
    resolved: count,
    warningCount: count,
    stale: z.array(z.string()).describe("owners that keep an old value"),
    unavailable: z.array(z.string()).describe("owners without a value"),
    changedOwners: z.array(z.string()),
  }),
  "secrets.resolve": secretsResolved,
};
