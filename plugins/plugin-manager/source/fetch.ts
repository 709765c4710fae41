import { createHash } from "node:crypto";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openRegular } from "svc/sdk/internal";
import { copyFolder } from "../archive/copy-folder.ts";
import { contentLimits } from "../archive/limits.ts";
import { unpackArchive } from "../archive/unpack.ts";
import { installErrors } from "../errors.ts";
import { runNpm } from "./npm.ts";
import { parseSpec } from "./parse-spec.ts";

export interface Fetched {
  /** Folder with the plugin's `svc.plugin.json`, below the staging folder. */
  folder: string;
  kind: "folder" | "archive" | "npm";
  /** Absolute path, or the exact `name@version`. */
  spec: string;
  /** Integrity of the archive. */
  integrity?: string;
}

/**
 * Brings a plugin's files into an empty staging folder.
 * @throws {SvcError} `plugin-source-invalid`, `archive-refused`, `npm-failed`
 */
export async function fetchPlugin(
  spec: string,
  staging: string,
  options: { cwd: string; env: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<Fetched> {
  const source = parseSpec(spec);
  const content = join(staging, "content");
  await mkdir(content, { mode: 0o700 });
  if (source.kind === "npm") {
    const packed = await packFromNpm(source, staging, options);
    return { ...(await unpacked(packed.file, content, options.signal)), kind: "npm", spec: packed.exact };
  }
  const path = resolve(options.cwd, source.path);
  const facts = await stat(path).catch(() => undefined);
  if (facts?.isDirectory()) {
    await copyFolder(path, content, { signal: options.signal });
    return { folder: content, kind: "folder", spec: path };
  }
  if (facts?.isFile()) return { ...(await unpacked(path, content, options.signal)), kind: "archive", spec: path };
  throw installErrors.pluginSourceInvalid({ spec, reason: "there is no such folder or file" });
}

async function unpacked(archive: string, content: string, signal: AbortSignal): Promise<{ folder: string; integrity: string }> {
  const integrity = await hashOf(archive);
  await unpackArchive(archive, content, { signal });
  return { folder: await singleFolderOf(content), integrity };
}

/** Packers put everything into one folder (`package/`, `name-1.0.0/`): that is the plugin then. */
async function singleFolderOf(content: string): Promise<string> {
  const [first, ...others] = await readdir(content, { withFileTypes: true });
  return first?.isDirectory() && others.length === 0 ? join(content, first.name) : content;
}

/** npm looks the version up, fetches the archive and checks it against the registry's hash. */
async function packFromNpm(
  { name, wanted }: { name: string; wanted: string | undefined },
  staging: string,
  options: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<{ file: string; exact: string }> {
  const packs = join(staging, "packs");
  await mkdir(packs, { mode: 0o700 });
  const spec = wanted === undefined ? name : `${name}@${wanted}`;
  // Run from the empty folder: an .npmrc beside the operator's prompt is no setting of the gateway.
  const text = await runNpm(["pack", spec, "--json", "--pack-destination", packs], {
    cwd: packs,
    env: options.env,
    signal: options.signal,
  });
  const [told] = JSON.parse(text) as Array<{ name: string; version: string }>;
  const files = await readdir(packs);
  if (!told || files.length !== 1) throw installErrors.npmFailed({ command: "pack", reason: "it delivered no package" });
  return { file: join(packs, files[0] as string), exact: `${told.name}@${told.version}` };
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha512");
  const handle = await openRegular(path, { maxBytes: contentLimits.bytes });
  try {
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) hash.update(chunk);
  } finally {
    await handle.close();
  }
  return `sha512-${hash.digest("base64")}`;
}
