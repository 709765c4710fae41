import { z } from "zod";
import { durationMs, sizeBytes } from "../../../sdk/config/amounts.ts";
import { defaulted, pathText, secretProviderAlias } from "../../../sdk/config/fields.ts";

/** Refuses NUL, which no system passes on to a program. */
const withoutNul = <T extends z.ZodString>(text: T) =>
  text.refine((value) => !value.includes("\0"), { error: "expected a text without a NUL character" });
const absolutePath = withoutNul(pathText().regex(/^(\/|[A-Za-z]:[\\/])/, "expected an absolute path"));
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "expected the name of an environment variable");

const provider = z.discriminatedUnion("source", [
  z.strictObject({
    source: z.literal("env").describe("Secrets from the environment"),
    allowlist: z.array(variableName).optional().describe("Variables that references may name; unset: any, empty: none"),
  }),
  z.strictObject({
    source: z.literal("file").describe("Secrets from a file of the gateway's own user"),
    path: withoutNul(pathText()).describe("The file; no link, not readable by others"),
    mode: z.enum(["json", "singleValue"]).default("json").describe("A JSON document, or the secret alone"),
    timeoutMs: defaulted(durationMs(1, 600_000), 5_000, "5s").describe("Time limit for reading"),
    maxBytes: defaulted(sizeBytes(1, 100_000_000), 1_000_000, "1mb").describe("Maximum file size"),
  }),
  z.strictObject({
    source: z.literal("exec").describe("Secrets from a program"),
    command: absolutePath.describe("The program; no shell, no link, not writable by others"),
    args: z.array(withoutNul(z.string())).max(100).default([]).meta({ sensitive: true }).describe("Its arguments"),
    passEnv: z.array(variableName).default([]).describe("Variables of the gateway that are passed to it"),
    env: z
      .record(variableName, withoutNul(z.string()).meta({ sensitive: true }))
      .default({})
      .describe("Further variables that are passed to it"),
    timeoutMs: defaulted(durationMs(1, 600_000), 5_000, "5s").describe("Time limit of one call"),
    maxOutputBytes: defaulted(sizeBytes(1, 100_000_000), 1_000_000, "1mb").describe("Maximum size of an answer in bytes"),
    jsonOnly: z.boolean().default(true).describe("An answer that is not JSON is refused"),
    trustedDirs: z.array(absolutePath).optional().describe("Folders the program must be in; unset: any"),
  }),
]);

const alias = (source: string) => secretProviderAlias().default("default").describe(`Provider of \`${source}\` references that name none`);

/** `secrets.*`: where references to secrets lead. */
export const secretsSchema = z
  .strictObject({
    providers: z.record(secretProviderAlias(), provider).default({}),
    defaults: z.strictObject({ env: alias("env"), file: alias("file"), exec: alias("exec") }).prefault({}),
  })
  .meta({ reload: "hot" });
