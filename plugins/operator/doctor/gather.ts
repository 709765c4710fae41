import { readdir, readFile, realpath, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CliContext, isSvcError, type SvcConfig } from "svc/sdk";
import { formatIssue, noticePath, ownValue, readNotices } from "svc/sdk/internal";
import { uncleanEnd } from "../unclean-end.ts";
import { gatherAccess } from "./access.ts";
import { gatherDatabase } from "./database.ts";
import type { Evidence } from "./findings.ts";
import { liveFindings } from "./live.ts";
import { staleLocks } from "./lock-checks.ts";
import { logFiles } from "./logs.ts";
import { restoreLeftovers, watchLimits } from "./machine.ts";
import { probeNative } from "./native.ts";
import { networkKind } from "./network-folder.ts";
import { missingOfPlugins } from "./packages.ts";
import { gatherPort } from "./port-checks.ts";
import { remoteFindings } from "./remote.ts";
import { gatherService } from "./service-checks.ts";
import { findSiblings } from "./siblings.ts";

/** Looks at everything and changes nothing. */
export async function gatherEvidence(cli: CliContext): Promise<Evidence> {
  const file = await cli.configFile();
  const loaded = await file.load();
  const { stateDir } = cli.paths;
  const refusal = await file.checkStart().then(
    () => undefined,
    (error: unknown) => (isSvcError(error) ? { code: error.code, message: error.message } : Promise.reject(error)),
  );
  const mode = ownValue(ownValue(loaded.source, "gateway"), "mode");
  return {
    config: {
      path: file.path,
      exists: loaded.exists,
      valid: loaded.valid,
      issues: [...loaded.issues, ...loaded.unserved].map((issue) => ({ ...issue, text: formatIssue(issue) })),
      warnings: [...loaded.warnings, ...(await file.pluginWarnings())].filter(({ path }) => !isSwitchedOff(path, loaded.config)),
      mode: typeof mode === "string" ? mode : undefined,
      lastGood: (await stat(`${file.path}.last-good`).catch(() => undefined)) !== undefined,
    },
    auth: mode === "remote" ? undefined : loaded.config && authOf(cli, { config: loaded.config, source: loaded.source, refusal }),
    pluginIssues: await file.pluginIssues(),
    plugins: (await cli.manifests())
      .filter((plugin) => !isLeftOut(plugin, loaded.config))
      .map(({ id, state, reason, hint }) => ({ id, state, reason, hint })),
    packages: await missingOfPlugins(await cli.candidates(), { config: loaded.config, vendor: await cli.vendorPackages() }),
    open: await openFiles(file.path, stateDir),
    access: await gatherAccess({ stateDir, configPath: file.path }),
    database: await gatherDatabase(cli),
    killed: await killedGateway(cli),
    secrets: loaded.valid ? (await cli.auditSecrets({ allowExec: false })).findings : [],
    staleLocks: await staleLocks({ configPath: file.path, stateDir }),
    node: { version: process.versions.node, floor: "20.19.0" },
    freeBytes: await statfs(stateDir).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    ),
    notices: (await readNotices(stateDir, Date.now())).map((notice) => ({ ...notice, file: noticePath(stateDir, notice.id) })),
    network: await networkFolder(stateDir),
    origins: await originsOf(cli, loaded.config),
    native: await probeNative(cli.paths.packageRoot, cli.signal),
    logs: { path: join(stateDir, "logs"), bytes: (await logFiles(stateDir)).reduce((sum, { bytes }) => sum + bytes, 0) },
    watch: await watchLimits(),
    leftovers: await restoreLeftovers(stateDir),
    service: await gatherService(cli),
    port: await gatherPort(cli),
    live: [
      ...(await liveFindings(cli)),
      ...(await findSiblings(cli, loaded.config)),
      ...(loaded.config ? remoteFindings(loaded.config.gateway) : []),
    ],
  };
}

/** An entry that is off may wait for its plugin. */
function isSwitchedOff(path: string, config: SvcConfig | undefined): boolean {
  const id = /^plugins\.entries\.([^.]+)$/.exec(path)?.[1];
  return id !== undefined && config?.plugins.entries[id]?.enabled === false;
}

/** Facts about the pages that may use the gateway; undefined when only this machine reaches it, or there is no page. */
export async function originsOf(cli: CliContext, config: SvcConfig | undefined): Promise<Evidence["origins"]> {
  if (!config || config.gateway.bind === "loopback" || config.gateway.bind === "auto" || !config.gateway.controlUi.enabled)
    return undefined;
  const { controlUi, tls } = config.gateway;
  return { configured: controlUi.allowedOrigins, port: (await cli.target()).port, scheme: tls.enabled ? "https" : "http" };
}

/** A list of allowed plugins leaves the others out on purpose, unless the config has an entry for one. */
function isLeftOut({ id, reason }: { id: string; reason?: string }, config: SvcConfig | undefined): boolean {
  return reason?.startsWith("not-allowed:") === true && config?.plugins.entries[id] === undefined;
}

interface AuthEvidence {
  config: SvcConfig;
  /** As written, with references to secrets in place. */
  source: unknown;
  refusal: { code: string; message: string } | undefined;
}

function authOf(cli: CliContext, { config: { gateway }, source, refusal }: AuthEvidence): Evidence["auth"] {
  const set = (name: string) => cli.env[name]?.trim() || undefined;
  const written = ownValue(ownValue(source, "gateway"), "auth");
  // The value behind a reference is not read here; a reference that leads nowhere refuses the start.
  const charsOf = (kind: "token" | "password", variable: string) =>
    (gateway.auth[kind] ?? (ownValue(written, kind) === undefined ? set(variable) : undefined))?.length ??
    (ownValue(written, kind) === undefined ? undefined : Number.POSITIVE_INFINITY);
  const token = charsOf("token", "SVC_GATEWAY_TOKEN");
  const password = charsOf("password", "SVC_GATEWAY_PASSWORD");
  const mode = gateway.auth.mode ?? (password && !token ? "password" : "token");
  return { mode, secretChars: mode === "password" ? password : token, refusal };
}

/** Config files with their copies, `.env`, and the state folder; of what is in it the rest is only as safe as the folder. */
async function openFiles(path: string, stateDir: string): Promise<Evidence["open"]> {
  if (process.platform === "win32") return [];
  const dir = dirname(path);
  const copies = (await readdir(dir).catch(() => [])).filter((name) => name.startsWith("svc.json")).map((name) => join(dir, name));
  const files = [...new Set([path, ...copies])].map((at) => ({ path: at, kind: "config" as const }));
  const state = [stateDir, join(stateDir, ".env"), join(stateDir, "state.sqlite")].map((at) => ({ path: at, kind: "state" as const }));
  const seen = await Promise.all(
    [...files, ...state].map(async (one) => ({ ...one, mode: (await stat(one.path).catch(() => undefined))?.mode })),
  );
  return seen.flatMap(({ mode, ...one }) => (mode !== undefined && (mode & 0o077) !== 0 ? [{ ...one, mode: mode & 0o777 }] : []));
}

/** The last gateway when it was killed, with what starts another one. */
async function killedGateway(cli: CliContext): Promise<Evidence["killed"]> {
  const found = await uncleanEnd(cli);
  return found && { startedAt: found.startedAt, advice: await cli.startAdvice() };
}

/** The kind of network file system that the state is on; undefined for a local one, and where the system does not say. */
async function networkFolder(stateDir: string): Promise<Evidence["network"]> {
  const type = await statfs(stateDir).then(
    (found) => found.type,
    () => undefined,
  );
  const mounts = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  const kind = networkKind({ path: await realpath(stateDir).catch(() => stateDir), type, mounts });
  return kind === undefined ? undefined : { path: stateDir, kind };
}
