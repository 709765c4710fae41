import { join } from "node:path";
import { isRecord, messageOf, z } from "svc/sdk";
import { openRegular } from "svc/sdk/internal";
import { storeErrors } from "../errors.ts";

/** Name of the manifest in the folder of a backup. */
export const MANIFEST = "manifest.json";
/** Format that this program writes, and the newest that it reads. */
export const FORMAT = 1;

/** Files of one backup; more than a person keeps. */
export const maxFiles = 200_000;
const MAX_BYTES = 128 * 1024 * 1024;

const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** Below the folder of the backup, with `/`, and never out of it. */
const filePath = z
  .string()
  .max(4_096)
  .refine(
    (path) => /^(config|state)\//.test(path) && !path.includes("\\") && path.split("/").every(isPlainName),
    "not a path inside the backup",
  );

const manifestSchema = z.object({
  format: z.number().int().min(1),
  /** ISO-8601, UTC. */
  createdAt: z.string(),
  svc: z.string(),
  node: z.string(),
  platform: z.string(),
  /** Name of the main file in `config/`; absent without a config. */
  config: z.string().optional(),
  /** Versions of the database; absent when there was none. */
  database: z.object({ schema: z.number().int(), minReader: z.number().int() }).optional(),
  withSecrets: z.boolean(),
  files: z
    .array(z.object({ path: filePath, bytes: z.number().int().min(0), sha256: digest, mode: z.number().int().min(0).max(0o777) }))
    .max(maxFiles),
  /** Files and folders that were there and are not in the backup. */
  leftOut: z.array(z.object({ path: z.string(), reason: z.string() })),
});

/** Contents of a backup: what it holds, with sizes and hashes, and what it does not. */
export type BackupManifest = z.infer<typeof manifestSchema>;
/** One file of a backup. */
export type BackupFile = BackupManifest["files"][number];

/** Reads the manifest of a backup. @throws {SvcError} `backup-unreadable`, `backup-too-new` */
export async function readManifest(dir: string): Promise<BackupManifest> {
  const value = await readJson(join(dir, MANIFEST)).catch((error: unknown) => {
    const reason = (error as NodeJS.ErrnoException).code === "ENOENT" ? `there is no ${MANIFEST}` : `${MANIFEST}: ${messageOf(error)}`;
    throw storeErrors.backupUnreadable({ dir, reason });
  });
  if (isRecord(value) && typeof value.format === "number" && value.format > FORMAT) {
    throw storeErrors.backupTooNew({ dir, found: `format ${value.format}`, known: `format ${FORMAT}`, version: String(value.svc) });
  }
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw storeErrors.backupUnreadable({ dir, reason: `${MANIFEST}: ${issue?.path.join(".")}: ${issue?.message}` });
}

async function readJson(path: string): Promise<unknown> {
  const file = await openRegular(path, { maxBytes: MAX_BYTES });
  try {
    return JSON.parse(await file.readFile("utf8"));
  } finally {
    await file.close();
  }
}

function isPlainName(part: string): boolean {
  return part !== "" && part !== "." && part !== ".." && !part.includes("\0");
}
