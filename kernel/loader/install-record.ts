import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../sdk/errors.ts";
import { writeFileAtomic } from "../../sdk/files.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import { installErrors } from "../process/errors.ts";
import { pluginIdPattern } from "../process/plugin-id.ts";

const INDEX_MAX_BYTES = 8_388_608;
const integrity = z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/);

const recordSchema = z.strictObject({
  version: z.string(),
  source: z.strictObject({
    kind: z.enum(["folder", "archive", "npm"]),
    /** As the operator gave it; for npm the exact `name@version` that came of it. */
    spec: z.string(),
    /** Integrity of the unpacked archive. */
    integrity: integrity.optional(),
  }),
  /** Integrity of the installed tree (`treeIntegrity`), checked before each load. */
  integrity,
  installedAt: z.iso.datetime(),
  /** Commands its manifest lists, for help without reading every manifest. */
  cli: z.array(z.strictObject({ name: z.string(), description: z.string(), module: z.string() })).default([]),
});

const indexSchema = z.strictObject({ version: z.literal(1), plugins: z.record(z.string().regex(pluginIdPattern), recordSchema) });

/** Record of how one plugin was installed. */
export type InstallRecord = z.output<typeof recordSchema>;
/** Every plugin that a command installed, by id. */
export type InstallIndex = z.output<typeof indexSchema>;

/** Folder of plugins for the whole profile. */
export function installedPluginsRoot(stateDir: string): string {
  return join(stateDir, "plugins");
}

/**
 * Folder of one installed plugin. The id is its own encoding: whatever could mean something in a path is refused.
 * @throws {SvcError} `invalid-plugin-id`
 */
export function installedPluginFolder(stateDir: string, id: string): string {
  if (!pluginIdPattern.test(id)) throw installErrors.invalidPluginId({ plugin: id });
  return join(installedPluginsRoot(stateDir), id);
}

/** File of the record of installed plugins. */
export function installIndexPath(stateDir: string): string {
  return join(installedPluginsRoot(stateDir), "index.json");
}

/**
 * Reads the records of installed plugins; empty when nothing was installed.
 * @throws {SvcError} `install-index-invalid` for a file that is none: then nothing there counts as installed
 */
export async function readInstallIndex(stateDir: string): Promise<InstallIndex> {
  const path = installIndexPath(stateDir);
  try {
    const text = (await readRegularFile(path, { maxBytes: INDEX_MAX_BYTES, followLink: false })).toString("utf8");
    return indexOf(indexSchema.parse(JSON.parse(text)).plugins);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return indexOf({});
    const reason = error instanceof z.ZodError ? (error.issues[0]?.message ?? "unknown content") : messageOf(error);
    throw installErrors.installIndexInvalid({ path, reason: reason.split("\n", 1)[0] }, { cause: error });
  }
}

/** Without what every object inherits: `constructor` is a possible id, and not installed for that. */
function indexOf(plugins: InstallIndex["plugins"]): InstallIndex {
  return { version: 1, plugins: Object.assign(Object.create(null) as InstallIndex["plugins"], plugins) };
}

/** Replaces the record of one plugin; undefined removes it. One writer at a time: the command that installs holds a lock. */
export async function writeInstallRecord(stateDir: string, id: string, record: InstallRecord | undefined): Promise<void> {
  installedPluginFolder(stateDir, id);
  const { plugins } = await readInstallIndex(stateDir);
  const next = Object.fromEntries(Object.entries({ ...plugins, [id]: record }).filter(([, r]) => r !== undefined));
  await writeFileAtomic(installIndexPath(stateDir), `${JSON.stringify({ version: 1, plugins: next }, null, 2)}\n`);
}
