import { z } from "zod";
import { formatIssues } from "./json-schema.ts";
import type { Manifest } from "./types/manifest.ts";

export const MANIFEST_FILE = "svc.plugin.json";

const ids = z.array(z.string().min(1)).optional();

const manifestSchema = z.strictObject({
  $schema: z.string().optional(),
  id: z.string().regex(/^[a-z][a-z0-9-]{1,47}$/, "expected 2 to 48 lower-case letters, digits or -, starting with a letter"),
  version: z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/, 'expected a version such as "1.0.0"'),
  svc: z.strictObject({ api: z.string().min(1) }),
  entry: z.string().min(1).optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  homepage: z.string().optional(),
  configSchema: z.record(z.string(), z.unknown()).optional(),
  contributes: z
    .strictObject({
      channels: ids,
      embeddingAdapters: ids,
      modelProviders: ids,
      memoryBackends: ids,
      tools: ids,
      rpc: ids,
      http: ids,
      hookPresets: ids,
      cli: ids,
      services: ids,
      events: ids,
    })
    .optional(),
  permissions: z
    .array(
      z.enum([
        "hooks.conversation",
        "hooks.prompt",
        "hooks.gate",
        "auth.provider",
        "http.public",
        "rpc.admin",
        "fs.workspace",
        "exec",
        "net",
      ]),
    )
    .optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  after: ids,
  provides: ids,
  requires: ids,
  slot: z.literal("memory").optional(),
  enabledByDefault: z.boolean().optional(),
  cli: z.array(z.strictObject({ name: z.string().min(1), description: z.string(), module: z.string().min(1) })).optional(),
  deprecated: z.string().optional(),
});

export type ManifestResult = { ok: true; manifest: Manifest } | { ok: false; reason: string };

/** Checks the parsed content of a `svc.plugin.json`. */
export function parseManifest(value: unknown): ManifestResult {
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return { ok: true, manifest: parsed.data as Manifest };
  return { ok: false, reason: `${MANIFEST_FILE}: ${formatIssues(parsed.error.issues as never)}` };
}

/** Matches the caret and exact ranges manifests use (`^1.0.0`, `1.2.3`, `>=1.0.0`, `*`). */
export function satisfies(version: string, range: string): boolean {
  const m = /^(\^|~|>=|)(\d+)\.(\d+)\.(\d+)$/.exec(range.trim());
  if (range.trim() === "*") return true;
  if (!m) return false;
  const [have, want] = [version, `${m[2]}.${m[3]}.${m[4]}`].map((v) => v.split(/[.-]/, 3).map(Number)) as [number[], number[]];
  const atLeast = compare(have, want) >= 0;
  if (m[1] === "") return compare(have, want) === 0;
  if (m[1] === ">=") return atLeast;
  return atLeast && have[0] === want[0] && (m[1] === "^" || have[1] === want[1]);
}

function compare(a: number[], b: number[]): number {
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number);
  return 0;
}
