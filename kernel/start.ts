import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { formatIssue } from "../sdk/config/issues.ts";
import { rootSchema, type SvcConfig } from "../sdk/config/root.ts";
import { isSvcError, SvcError } from "../sdk/errors.ts";
import { writeFileAtomic } from "../sdk/files.ts";
import { type Env, type ProfilePaths, resolvePort } from "../sdk/host/paths.ts";
import { type ResolvedAuth, resolveAuth } from "../sdk/host/secrets.ts";
import type { StartFlags } from "../sdk/types/host-gateway.ts";
import { deepFreeze, type LoadedConfig, loadConfig } from "./config/load.ts";
import { answersAsGateway, type BindMode, type BindPlan, planBind } from "./port/listen.ts";
import "./errors.ts";

/** Everything decided before anything is opened. */
export interface StartPlan {
  loaded: LoadedConfig;
  config: SvcConfig;
  port: number;
  portSource: "flag" | "env" | "config" | "default";
  bindMode: BindMode;
  bind: BindPlan;
  auth: ResolvedAuth;
  bootId: string;
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

/**
 * Steps 2 to 6 of the start (`operations.md` 7.1): port, conflict, config, mode guard, auth and bind guard.
 * @throws {SvcError} with exit code 78 for every refusal a supervisor must not retry
 */
export async function planStart(options: PlanOptions): Promise<StartPlan> {
  const { paths, env, flags } = options;
  const loaded = await loadConfig(paths.configPath);
  const raw = (loaded.source as { gateway?: { port?: unknown } } | undefined)?.gateway?.port;
  const usable = isPort(raw) ? raw : undefined;
  if (raw !== undefined && usable === undefined) requireValid(loaded); // there is no port to ask about
  const { port, source: portSource } = resolvePort({ flag: flags.port, env, config: usable, profile: paths.profile });
  const bindMode = (flags.bind ?? loaded.config?.gateway.bind ?? "loopback") as BindMode;
  const bind = planBind(bindMode, loaded.config?.gateway.customBindHost);
  const asks = options.listen && port !== 0;
  if (asks && !options.takePort && (await answersAsGateway(bind.host, port))) {
    throw new SvcError("already-listening", { host: bind.host, port, holder: "" });
  }
  requireValid(loaded);
  const config = loaded.config ?? deepFreeze(rootSchema.parse({}));
  if (options.listen) guardMode(loaded, config, flags);
  const auth = decideAuth({ config, env, flags, bind, port, listen: options.listen });
  if (asks) await options.takePort?.(bind.host, port); // nobody is ended for a start that is refused anyway
  return { loaded, config, port, portSource, bindMode, bind, auth, bootId: randomUUID() };
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65_535;
}

function requireValid(loaded: LoadedConfig): void {
  if (loaded.valid) return;
  const message = `${loaded.path} is not valid\n${loaded.issues.map(formatIssue).join("\n")}`;
  throw new SvcError("invalid-config", { message });
}

function guardMode(loaded: LoadedConfig, config: SvcConfig, flags: StartFlags): void {
  if (flags.allowUnconfigured) return;
  if (!loaded.exists) throw new SvcError("start-blocked", { reason: `no config at ${loaded.path}` });
  if (config.gateway.mode === undefined) throw new SvcError("start-blocked", { reason: "key missing: the file may be damaged" });
  if (config.gateway.mode === "remote") throw new SvcError("start-blocked", { reason: "current: remote" });
}

interface AuthQuestion {
  config: SvcConfig;
  env: Env;
  flags: StartFlags;
  bind: BindPlan;
  port: number;
  listen: boolean;
}

/** A secret is needed off loopback; on loopback a missing one is made up for this run. */
function decideAuth(q: AuthQuestion): ResolvedAuth {
  const auth = resolveAuth(q);
  if (!q.listen) return auth;
  const usable = auth.mode !== "none" && auth.secret !== undefined;
  if (!q.bind.loopbackOnly && !usable) throw new SvcError("bind-without-auth", { host: q.bind.host, port: q.port });
  if (auth.mode === "none" || usable) return auth;
  return { mode: auth.mode, secret: randomBytes(32).toString("base64url"), source: "runtime" };
}

/** Leaves a made-up secret where the local commands find it. The lock must be held: the file may be a living gateway's. */
export async function writeRuntimeToken(stateDir: string, auth: ResolvedAuth): Promise<void> {
  if (auth.source === "runtime" && auth.secret) await writeFileAtomic(runtimeTokenPath(stateDir), auth.secret);
}

/** Secret of a gateway that was started without one; deleted when it stops. */
export function runtimeTokenPath(stateDir: string): string {
  return join(stateDir, "gateway", "runtime-token");
}

export function runtimeInfoPath(stateDir: string): string {
  return join(stateDir, "gateway", "runtime.json");
}

export function lastRefusalPath(stateDir: string): string {
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

export async function removeRuntimeFiles(stateDir: string): Promise<void> {
  await Promise.all([rm(runtimeInfoPath(stateDir), { force: true }), rm(runtimeTokenPath(stateDir), { force: true })]);
}
