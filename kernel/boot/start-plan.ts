import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, rm, stat } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import { formatIssue } from "../../sdk/config/config-issue.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { commonErrors, isSvcError } from "../../sdk/errors.ts";
import { writeFileAtomic } from "../../sdk/files.ts";
import type { Env } from "../../sdk/types/common.ts";
import { type AuthMode, type ResolvedAuth, resolveAuth } from "../auth/resolve-auth.ts";
import { lastGoodPath, newestBackup } from "../config/backups.ts";
import { loadConfig, loadSecrets } from "../config/load.ts";
import type { LoadedConfig } from "../config/loaded.ts";
import type { ConfigWriterHost } from "../config/write.ts";
import { kernelErrors } from "../errors.ts";
import { type BindMode, type BindPlan, planBind } from "../port/bind-plan.ts";
import type { TlsMaterial } from "../port/tls-files.ts";
import { answersAsGateway, isBindable } from "../process/gateway-probe.ts";
import { envValue, type ProfilePaths, resolvePort } from "../process/paths.ts";
import type { StartFlags } from "../process/start-flags.ts";
import { secretErrors } from "../secrets/errors.ts";
import { missingStartSecret } from "../secrets/start.ts";
import { plantSeeds, seedsOf } from "./seed.ts";

/** Everything decided before anything is opened. */
export interface StartPlan {
  loaded: LoadedConfig;
  config: SvcConfig;
  port: number;
  portSource: "flag" | "env" | "config" | "default";
  bindMode: BindMode;
  bind: BindPlan;
  auth: ResolvedAuth;
  /** Undefined: plain HTTP. */
  tls: TlsMaterial | undefined;
  bootId: string;
  /** Notes for the operator, for the log. */
  notes: string[];
}

export interface PlanOptions {
  paths: ProfilePaths;
  env: Env;
  flags: StartFlags;
  /** False for in-process use: no port, no guards about it. */
  listen: boolean;
  /** Ends whoever holds the port (`--force`); runs before the lock is asked for. */
  takePort?: ((host: string, port: number) => Promise<void>) | undefined;
}

/** A start that may come later. */
export type NextStart = Pick<PlanOptions, "paths" | "env"> & Partial<Pick<PlanOptions, "flags" | "listen">>;

/**
 * Steps 2 to 6 of the start: port, conflict, config, mode guard, auth and bind guard.
 * @throws {SvcError} with exit code 78 for every refusal a supervisor must not retry
 */
export async function planStart(options: PlanOptions): Promise<StartPlan> {
  const { paths, env, flags } = options;
  // A start that is refused anyway asks for nothing: no program is run, no secret read.
  const read = await loadConfig(paths.configPath, { env, secrets: "none" });
  const raw = (read.source as { gateway?: { port?: unknown } } | undefined)?.gateway?.port;
  const usable = isPort(raw) ? raw : undefined;
  if (raw !== undefined && usable === undefined) await requireValid(read); // there is no port to ask about
  const { port, source: portSource } = resolvePort({ flag: flags.port, env: read.env, config: usable, profile: paths.profile });
  const bindMode = (flags.bind ?? read.config?.gateway.bind ?? "loopback") as BindMode;
  const loopbackBindable = bindMode !== "auto" || (await isBindable("127.0.0.1"));
  const { customBindHost } = read.config?.gateway ?? {};
  const bind = planBind(bindMode, { customBindHost, interfaces: networkInterfaces(), loopbackBindable });
  const asks = options.listen && port !== 0;
  if (asks && !options.takePort && (await answersAsGateway(bind.host, port))) {
    throw kernelErrors.alreadyListening({ host: bind.host, port });
  }
  await requireValid(read);
  if (options.listen) await guardMode(read, flags);
  const asked = await loadSecrets(read, { env, secrets: "start" });
  const missing = options.listen ? missingStartSecret(asked, flags) : undefined;
  if (missing) throw secretErrors.secretUnresolved(missing);
  const decided = decideAuth({ config: await requireValid(asked), env: asked.env, flags, bind, port, listen: options.listen });
  const seeds = options.listen && !flags.allowUnconfigured ? seedsOf({ loaded: asked, auth: decided }) : {};
  const { loaded, written, notes } = await plantSeeds(asked, seeds, { host: writerOf(paths.configPath, env), env });
  const auth: ResolvedAuth = written && seeds.token ? { ...decided, source: "config" } : decided;
  const config = await requireValid(loaded);
  const tls = options.listen && config.gateway.tls.enabled ? await readTls(config, paths, env) : undefined;
  if (asks) await options.takePort?.(bind.host, port); // nobody is ended for a start that is refused anyway
  return { loaded, config, port, portSource, bindMode, bind, auth, tls, bootId: randomUUID(), notes };
}

/**
 * Would a start with what lies on disk now be refused? Opens nothing and writes nothing.
 * @throws {SvcError} what that start would throw
 */
export async function checkNextStart({ paths, env, flags, listen = true }: NextStart): Promise<void> {
  await planStart({ paths, env: { ...env, SVC_CONFIG_READONLY: "1" }, flags: { ...flags, port: 0 }, listen });
}

/** The config of a start with the rest of its secrets: those that only plugins need are asked for once the port listens. */
export async function completeSecrets(
  plan: StartPlan,
  options: { env: Env; signal: AbortSignal },
): Promise<LoadedConfig & { config: SvcConfig }> {
  const loaded = await loadSecrets(plan.loaded, { ...options, fresh: true });
  return { ...loaded, config: await requireValid(loaded) };
}

async function readTls({ gateway }: SvcConfig, { configPath }: ProfilePaths, env: Env): Promise<TlsMaterial | undefined> {
  const { readTlsFiles, tlsPaths } = await import("../port/tls-files.ts");
  const paths = tlsPaths(gateway.tls, { env, configDir: dirname(configPath) });
  return paths && readTlsFiles(paths);
}

function writerOf(path: string, env: Env): ConfigWriterHost {
  const load = (overlay?: ReadonlyMap<string, string>) => loadConfig(path, { env, overlay, secrets: "none" });
  return { path, readonly: envValue(env, "SVC_CONFIG_READONLY") === "1", load };
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65_535;
}

async function requireValid(loaded: LoadedConfig): Promise<SvcConfig> {
  if (loaded.config) return loaded.config;
  const backup = await newestBackup(loaded.path);
  const hint = backup ? [`newest backup: ${backup}; see svc doctor`] : [];
  throw commonErrors.invalidConfig({ message: [`${loaded.path} is not valid`, ...loaded.issues.map(formatIssue), ...hint].join("\n") });
}

async function guardMode(loaded: LoadedConfig, flags: StartFlags): Promise<void> {
  if (flags.allowUnconfigured) return;
  if (!loaded.exists) {
    const isKept = (await stat(lastGoodPath(loaded.path)).catch(() => undefined)) !== undefined;
    const advice = isKept ? "; svc doctor --fix --restore-last-good puts the last one that worked back" : "";
    throw kernelErrors.startBlocked({ reason: `no config at ${loaded.path}${advice}` });
  }
  const mode = loaded.config?.gateway.mode;
  if (mode === "remote") throw kernelErrors.startBlocked({ reason: "current: remote" });
  if (mode !== undefined) return;
  const backup = await newestBackup(loaded.path);
  throw kernelErrors.startBlocked({ reason: `key missing: the file may be damaged${backup ? `; newest backup ${backup}` : ""}` });
}

interface AuthQuestion {
  config: SvcConfig;
  env: Env;
  flags: StartFlags;
  bind: BindPlan;
  port: number;
  listen: boolean;
}

/** Setting that gives a mode what it lacks off loopback. */
function secretAdvice(mode: AuthMode): string {
  if (mode === "none") return "set gateway.auth.mode to token or password (none is for loopback)";
  return mode === "token" ? "set gateway.auth.token" : "set gateway.auth.password";
}

/** A secret or a trusted proxy is needed off loopback; on loopback a missing secret is made up for this run. */
function decideAuth(q: AuthQuestion): ResolvedAuth {
  const auth = resolveAuth(q);
  if (!q.listen) return auth;
  const usable = auth.mode === "trusted-proxy" || (auth.mode !== "none" && auth.secret !== undefined);
  if (!q.bind.loopbackOnly && !usable) {
    throw kernelErrors.bindWithoutAuth({ host: q.bind.host, port: q.port, advice: secretAdvice(auth.mode) });
  }
  if (auth.mode === "none" || usable) return auth;
  return { mode: auth.mode, secret: randomBytes(32).toString("base64url"), source: "runtime" };
}

/** Leaves a made-up secret where the local commands find it. The lock must be held: the file may be a living gateway's. */
export async function writeRuntimeToken(stateDir: string, auth: ResolvedAuth): Promise<void> {
  if (auth.source === "runtime" && auth.secret) await writeFileAtomic(runtimeTokenPath(stateDir), auth.secret);
}

/** Secret of a gateway that was started without one; deleted when it stops. */
function runtimeTokenPath(stateDir: string): string {
  return join(stateDir, "gateway", "runtime-token");
}

export function runtimeInfoPath(stateDir: string): string {
  return join(stateDir, "gateway", "runtime.json");
}

function lastRefusalPath(stateDir: string): string {
  return join(stateDir, "gateway", "last-refusal.json");
}

/** Remembers why a start was refused, for `svc gateway status`. Never makes things worse by failing itself. */
export async function recordRefusal(stateDir: string, error: unknown): Promise<void> {
  if (!isSvcError(error) || error.spec.exit === undefined) return;
  const path = lastRefusalPath(stateDir);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomic(path, JSON.stringify({ ts: Date.now(), code: error.code, message: error.message }));
  } catch {
    // a read-only state directory is reported by the start itself
  }
}

/** A start that succeeded has overcome what refused an earlier one. */
export async function forgetRefusal(stateDir: string): Promise<void> {
  await rm(lastRefusalPath(stateDir), { force: true }).catch(() => undefined);
}

export async function removeRuntimeFiles(stateDir: string): Promise<void> {
  await Promise.all([rm(runtimeInfoPath(stateDir), { force: true }), rm(runtimeTokenPath(stateDir), { force: true })]);
}
