import { join } from "node:path";
import type { InstalledPlugins, InstallRecord, Manifest, PluginCandidate } from "svc/sdk";
import { makePrivate } from "svc/sdk/internal";
import { installErrors } from "../errors.ts";
import { installDependencies } from "../source/dependencies.ts";
import { type Fetched, fetchPlugin } from "../source/fetch.ts";
import { type FileLock, withInstallLock } from "./lock.ts";
import { putInPlace, withStaging } from "./place.ts";

export interface InstallRequest {
  spec: string;
  /** A plugin of the same id that is part of the product may be replaced. */
  replaceBundled: boolean;
}

/** The installation around an install; commands take it from their context. */
export interface InstallHost {
  installed: InstalledPlugins;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  fileLock: FileLock;
  /** A folder as discovery sees it, no code run. */
  inspect(folder: string): Promise<PluginCandidate>;
  isBundled(id: string): Promise<boolean>;
  /** Tells the operator what takes its time. */
  progress(text: string): void;
}

export interface Installed {
  manifest: Manifest;
  record: InstallRecord;
  folder: string;
  /** Version that stood there before. */
  replaced: string | undefined;
}

/** Proposal that the operator is asked to approve. */
export interface InstallProposal {
  manifest: Manifest;
  /** True when the installed plugin is another version of the same package: its grants apply to this one. */
  isUpdate: boolean;
}

/** Lock of everything that changes installed plugins. */
export function installLockPath({ root }: InstalledPlugins): string {
  return join(root, ".install.lock");
}

/**
 * Brings a plugin into the state directory: fetch, dependencies by lockfile, gates, hash, rename, record. No code of it is run. `accept` is asked once
 * everything is known and before anything is put in place; throwing there leaves all as it was. What it did is taken back by what it returns when the
 * files cannot be put in place after all.
 * @throws {SvcError} `install-locked`, `plugin-refused`, `plugin-shadows-bundled`, and what the steps throw
 */
export function installPlugin(
  request: InstallRequest,
  host: InstallHost,
  accept: (proposal: InstallProposal) => Promise<(() => Promise<void>) | undefined>,
): Promise<Installed> {
  const { installed } = host;
  return withInstallLock(host.fileLock, installLockPath(installed), () =>
    withStaging(installed.root, async (staging) => {
      host.progress(`fetching ${request.spec}`);
      const fetched = await fetchPlugin(request.spec, staging, host);
      const onStart = () => host.progress("installing its dependencies, scripts off");
      await installDependencies(fetched.folder, { spec: request.spec, env: host.env, signal: host.signal, onStart });
      await makePrivate(fetched.folder);
      const manifest = await checked(fetched, request, host);
      const before = (await installed.read()).plugins[manifest.id];
      const now = { version: manifest.version, source: fetched };
      const takeBack = await accept({ manifest, isUpdate: before !== undefined && isSamePackage(before, now) });
      try {
        host.signal.throwIfAborted();
        return await place(fetched, manifest, { installed, before });
      } catch (error) {
        await takeBack?.();
        throw error;
      }
    }),
  );
}

async function checked(fetched: Fetched, request: InstallRequest, host: InstallHost): Promise<Manifest> {
  const { manifest, problem } = await host.inspect(fetched.folder);
  if (problem || !manifest) {
    const { code, reason, hint } = problem ?? { code: "manifest-invalid", reason: "it has no manifest", hint: "" };
    // The staging folder means nothing to whoever reads this.
    const told = reason.replaceAll(`${fetched.folder}/`, "").replaceAll(fetched.folder, request.spec);
    throw installErrors.pluginRefused({ spec: request.spec, code, reason: told, hint });
  }
  if (!request.replaceBundled && (await host.isBundled(manifest.id))) throw installErrors.pluginShadowsBundled({ plugin: manifest.id });
  return manifest;
}

async function place(
  fetched: Fetched,
  manifest: Manifest,
  { installed, before }: { installed: InstalledPlugins; before: InstallRecord | undefined },
): Promise<Installed> {
  const { id, version } = manifest;
  const folder = installed.folder(id);
  const record: InstallRecord = {
    version,
    source: { kind: fetched.kind, spec: fetched.spec, ...(fetched.integrity ? { integrity: fetched.integrity } : {}) },
    integrity: await installed.integrityOf(fetched.folder),
    installedAt: new Date().toISOString(),
    cli: manifest.cli ?? [],
  };
  const placed = await putInPlace(fetched.folder, folder);
  try {
    await installed.write(id, record);
  } catch (error) {
    await placed.undo();
    throw error;
  }
  // It is installed by now; an old folder that stays goes with the leftovers of a later command.
  await placed.finish().catch(() => undefined);
  return { manifest, record, folder, replaced: before?.version };
}

/** Source of an installation. */
type Source = Pick<InstallRecord, "version"> & { source: Pick<InstallRecord["source"], "kind" | "spec"> };

/**
 * Is it the same package in another version? For npm the name counts, for folders and archives the path, but for the version in it: another package
 * of the same plugin id may be somebody else's.
 */
export function isSamePackage(before: Source, now: Source): boolean {
  return before.source.kind === now.source.kind && withoutVersion(before) === withoutVersion(now);
}

function withoutVersion({ version, source: { kind, spec } }: Source): string {
  return kind === "npm" ? spec.slice(0, spec.lastIndexOf("@")) : spec.replaceAll(version, "*");
}
