import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isSvcError, messageOf, type PluginCandidate, type SvcError, type VendorPackages } from "svc/sdk";
import { copyFolder } from "../archive/copy-folder.ts";
import { installErrors } from "../errors.ts";
import { type FileLock, withInstallLock } from "../install/lock.ts";
import { putInPlace } from "../install/place.ts";
import { lockProblem } from "../source/dependencies.ts";
import { runNpm } from "../source/npm.ts";

/** The installation around it; commands take it from their context. */
export interface PackagesHost {
  vendor: VendorPackages;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  fileLock: FileLock;
  /** Tells how many packages have come. */
  progress(done: number, total: number): void;
  /** True when no gateway runs that may use the packages of an earlier lock file. */
  isIdle(): Promise<boolean>;
}

/** `none`: the plugin has no packages of its own; `present`: they were there. */
export type PackagesOutcome =
  | { state: "none" }
  | { state: "present" }
  | { state: "installed"; folder: string; packages: readonly string[] };

const STAGING = ".staging-";

/**
 * Installs the packages of a plugin as its `vendor/` folder locks them: a copy of that folder in the state directory, npm without scripts there, a rename.
 * The plugin's own folder is only read. Whatever a killed install left goes with the next one.
 * @throws {SvcError} `plugin-lockfile-missing`, `install-locked`, `archive-refused`, `packages-not-installed`
 */
export async function installPackages(candidate: PluginCandidate, host: PackagesHost): Promise<PackagesOutcome> {
  const { id, root } = candidate;
  const owner = { id, root, channels: candidate.manifest?.contributes?.channels };
  if ((await host.vendor.locked(root)) === undefined) return { state: "none" };
  const reason = await lockProblem(join(root, "vendor"), { innerLinks: true });
  if (reason !== undefined) throw installErrors.pluginLockfileMissing({ spec: join(root, "vendor"), reason });
  const home = host.vendor.folder(id);
  await mkdir(home, { recursive: true, mode: 0o700 });
  // A folder that nobody else can enter protects every file in it, links included.
  await chmod(home, 0o700);
  return withInstallLock(host.fileLock, join(home, ".install.lock"), async () => {
    if ((await host.vendor.missing(owner)).length === 0) return { state: "present" };
    await removeStaging(home);
    const staging = await mkdtemp(join(home, STAGING));
    try {
      const { hash, packages } = await fill({ id, root, staging }, host, host.vendor.command(owner));
      host.signal.throwIfAborted();
      const folder = join(home, hash);
      await (await putInPlace(join(staging, "vendor"), folder)).finish();
      if (await host.isIdle()) await removeOthers(home, hash);
      return { state: "installed", folder, packages };
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  });
}

/** The copy is what counts from here on: the hash is that of the files npm has read. */
async function fill(
  { id, root, staging }: { id: string; root: string; staging: string },
  host: PackagesHost,
  command: string,
): Promise<{ hash: string; packages: string[] }> {
  const cwd = join(staging, "vendor");
  await copyFolder(join(root, "vendor"), cwd, { signal: host.signal });
  const locked = await host.vendor.locked(staging);
  const total = locked?.count ?? 0;
  let done = 0;
  host.progress(done, total);
  const onPackage = () => host.progress(Math.min(++done, total), total);
  try {
    await runNpm(["ci", "--omit=dev", "--no-bin-links"], { cwd, env: host.env, signal: host.signal, onPackage });
  } catch (error) {
    throw isSvcError(error, "npm-failed") ? notInstalled(id, error, command) : error;
  }
  const missing = await host.vendor.missing({ id, root: staging }, { isOwnOnly: true });
  if (locked === undefined || missing.length > 0) {
    const reason = `npm ended well, but ${missing.join(", ")} is not there in the locked version`;
    throw installErrors.packagesNotInstalled({ plugin: id, reason, advice: "report it to the author of the plugin" });
  }
  return { hash: locked.hash, packages: [...locked.direct].map(([name, version]) => `${name} ${version}`) };
}

const isAboutNetwork = /E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|HOSTUNREACH|NETUNREACH)|network|socket|timed? ?out|proxy/i;

function notInstalled(plugin: string, error: SvcError, command: string): SvcError {
  const reason = messageOf(error);
  const mend = isAboutNetwork.test(reason) ? "check the network, HTTPS_PROXY and the registry that npm is set to, then " : "";
  return installErrors.packagesNotInstalled({ plugin, reason, advice: `${mend}run again: ${command}` }, { cause: error });
}

/** Under the lock nobody else is at it: every staging folder was left by an install that was killed. */
async function removeStaging(home: string): Promise<void> {
  const left = (await readdir(home)).filter((name) => name.startsWith(STAGING) || name.startsWith(".replaced-"));
  for (const name of left) await rm(join(home, name), { recursive: true, force: true });
}

/** Packages of earlier lock files. */
async function removeOthers(home: string, hash: string): Promise<void> {
  const others = (await readdir(home)).filter((name) => /^[0-9a-f]{16}$/.test(name) && name !== hash);
  for (const name of others) await rm(join(home, name), { recursive: true, force: true });
}
