import { basename } from "node:path";
import { writeFileAtomic } from "../../sdk/files.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import type { Restore } from "../../sdk/types/config-file.ts";
import { keepRejected, lastGoodPath } from "./backups.ts";
import { decodeConfig, MAX_CONFIG_BYTES } from "./config-file.ts";
import { configErrors } from "./errors.ts";
import type { LoadedConfig } from "./loaded.ts";
import { holdsPlaceholder } from "./redact.ts";
import { type ConfigWriterHost, locked, replaceFile } from "./write.ts";

/** Keeps the main file as the last one a gateway became ready with. Nothing happens without a file, or when a placeholder is in it. */
export async function saveLastGood(loaded: LoadedConfig): Promise<void> {
  const main = loaded.files.find((file) => file.path === loaded.path);
  if (!main || holdsPlaceholder(loaded.authored)) return;
  const text = (main.bom ? "\uFEFF" : "") + main.text;
  const path = lastGoodPath(loaded.path);
  if ((await readConfigBytes(path))?.toString("utf8") !== text) await writeFileAtomic(path, text);
}

/**
 * Puts the last-good copy back in place of a file that does not load, or is gone. A broken one is kept as `.rejected.<time>` and in the ring of backups.
 * @throws {SvcError} `config-no-last-good` when the present file is fine, or there is no copy that would load
 */
export async function restoreLastGood(host: ConfigWriterHost, options: { dryRun?: boolean } = {}): Promise<Restore> {
  if (host.readonly) throw configErrors.configReadonly({ file: basename(host.path) });
  if (options.dryRun) return (await planRestore(host)).restore;
  return locked(host, async () => {
    const { restore, bytes } = await planRestore(host);
    const broken = await readConfigBytes(host.path);
    const rejected = broken && (await keepRejected(host.path, broken));
    await replaceFile(host.path, bytes);
    return { ...restore, ...(rejected === undefined ? {} : { rejected }) };
  });
}

async function planRestore(host: ConfigWriterHost): Promise<{ restore: Restore; bytes: Uint8Array }> {
  const path = lastGoodPath(host.path);
  const refuse = (reason: string) => configErrors.configNoLastGood({ file: basename(host.path), lastGood: basename(path), reason });
  const { exists, valid } = await host.load();
  if (exists && valid) throw refuse("the present file is valid");
  const bytes = await readConfigBytes(path);
  if (!bytes) throw refuse("there is no such copy");
  const decoded = decodeConfig(bytes, basename(path));
  const text = "text" in decoded ? decoded.text : "";
  if (!(await host.load(new Map([[host.path, bytes.toString("utf8")]]))).valid) throw refuse("it is not valid either");
  return { restore: { broken: String((await readConfigBytes(host.path)) ?? ""), lastGood: text }, bytes };
}

/** Undefined for what cannot be read; a FIFO is not waited for. */
function readConfigBytes(path: string): Promise<Buffer | undefined> {
  return readRegularFile(path, { maxBytes: MAX_CONFIG_BYTES }).catch(() => undefined);
}
