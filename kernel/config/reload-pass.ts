import type { ConfigIssue } from "../../sdk/config/config-issue.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { messageOf } from "../../sdk/errors.ts";
import { withLimit } from "../../sdk/time.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { PluginReload } from "../../sdk/types/plugin-record.ts";
import type { PreparedReload, ReloadAction, ReloadOutcome, ReloadParticipant } from "../../sdk/types/reload.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { diffConfig, keepPaths, pathSteps, touches } from "./diff.ts";
import type { LoadedConfig } from "./loaded.ts";
import { type ClassContext, classifyChanges, planReload, type ReloadPlan, raisedOnly } from "./reload-plan.ts";

/** Time limit for one part to prepare or apply a change. */
const PART_LIMIT_MS = 30_000;
const NAMED_PATHS = 10;

export interface ReloadIssue {
  path: string;
  message: string;
}

/** One part that takes part in reloads, with its owner; in load order. */
export interface NamedParticipant {
  plugin: string;
  participant: ReloadParticipant;
}

/** Parts that a reload pass acts on. */
export interface PassDeps {
  classes(prev: LoadedConfig, next: LoadedConfig): ClassContext;
  /** Reasons why a valid config cannot run in this process, such as an unresolved secret of the gateway. */
  refusals(next: LoadedConfig & { config: SvcConfig }): ReloadIssue[];
  participants(): NamedParticipant[];
  /** The same config as plugins may see it. */
  mask(config: SvcConfig): SvcConfig;
  /** Issues of plugins with a config that is valid by itself. */
  validate(config: SvcConfig, paths: readonly string[]): Promise<ReloadIssue[]>;
  /** Answer of the taps of `reload.plan`. */
  raise(event: { paths: string[]; actions: ReloadAction[] }): Promise<unknown>;
  /** Runs a part's code under its owner's name. */
  attribute<T>(plugin: string, run: () => Promise<T>): Promise<T>;
  /** Puts the new snapshot in place: one assignment. */
  swap(loaded: LoadedConfig): void;
  /** After every part has been applied. */
  changed(prev: SvcConfig, next: SvcConfig, paths: string[]): Promise<void>;
  /** Replaces the plugins whose entries changed. */
  applyEntries(ids: string[]): Promise<PluginReload[]>;
  logger: Logger;
}

export interface PassResult {
  outcome: ReloadOutcome;
  /** Parts that failed after the swap. */
  failed: ReloadIssue[];
}

type Loaded = LoadedConfig & { config: SvcConfig };

/**
 * One pass from a freshly read config to the running one: diff, plan, validate, prepare, swap, apply.
 * Whatever fails before the swap leaves everything as it was; what fails afterwards is that part's own trouble. Never rejects for a fault of a plugin.
 *
 * @param explicit somebody asked for it: then mode `off` applies as well
 * @param secretsOnly the files are those of the active config: new secrets are applied in every mode
 */
export async function runReloadPass(
  active: Loaded,
  loaded: LoadedConfig,
  options: { explicit: boolean; secretsOnly?: boolean; deps: PassDeps },
): Promise<PassResult> {
  const { deps, explicit, secretsOnly = false } = options;
  const broken = brokenBy(active, loaded, deps);
  if (broken.length > 0) return refuse("invalid", broken, deps.logger);
  const read = loaded as Loaded;
  const changedPaths = diffConfig(active.config, read.config);
  if (changedPaths.length === 0) {
    deps.swap({ ...read, config: active.config });
    const status = read.hash === active.hash ? "unchanged" : "applied";
    return done({ status, action: "none", changedPaths, pendingRestart: [], issues: [] });
  }
  const classified = classifyChanges(changedPaths, deps.classes(active, read));
  const actions = raisedOnly(classified, await deps.raise({ paths: changedPaths, actions: classified }));
  const plan = planReload(actions, { mode: secretsOnly ? "hot" : read.config.gateway.reload.mode, explicit });
  report(plan, read.config, deps.logger);
  deps.logger.debug("config reload planned", () => ({
    step: plan.step,
    applied: plan.applied.slice(0, NAMED_PATHS),
    kept: plan.kept.slice(0, NAMED_PATHS),
    parts: [...new Set(deps.participants().map(({ plugin }) => plugin))],
  }));
  const { pendingRestart } = plan;
  if (plan.step !== "swap" || plan.applied.length === 0) {
    const status = plan.step === "restart" ? "restart" : plan.step === "keep" ? "off" : "applied";
    return done({ status, action: status === "restart" ? "restart" : "none", changedPaths, pendingRestart, issues: [] });
  }
  const config = plan.kept.length > 0 ? deepFreeze(keepPaths(active.config, read.config, plan.kept)) : read.config;
  const result = await apply(active, { ...read, config }, { paths: plan.applied, deps });
  const isHot = actions.some((a) => a.reload !== "none" && plan.applied.includes(a.path));
  if (!result.swapped) return refuse("rejected", result.issues, deps.logger);
  return done({ status: "applied", action: isHot ? "hot" : "none", changedPaths, pendingRestart, issues: [] }, result.issues);
}

function done(outcome: ReloadOutcome, failed: ReloadIssue[] = []): PassResult {
  return { outcome, failed };
}

function refuse(status: "invalid" | "rejected", issues: ReloadIssue[], logger: Logger): PassResult {
  const what = status === "invalid" ? "invalid config" : "refused";
  const text = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
  logger.warn(`config reload skipped (${what}): ${text}`);
  return done({ status, action: "none", changedPaths: [], pendingRestart: [], issues });
}

/** Reason why a file cannot replace the running config, apart from its own issues: it is gone, or so little is left that it must be a mistake. */
function brokenBy(active: Loaded, loaded: LoadedConfig, deps: PassDeps): ReloadIssue[] {
  if (!loaded.valid || !loaded.config) return loaded.issues.map(placed);
  if (active.exists && !loaded.exists)
    return [
      {
        path: "",
        message: `${loaded.path} is gone; put it back (svc doctor --fix --restore-last-good), the gateway would not start again without it`,
      },
    ];
  if (active.config.gateway.mode !== undefined && loaded.config.gateway.mode === undefined) {
    return [{ path: "gateway.mode", message: 'key missing: the file may be damaged; expected "local"' }];
  }
  return deps.refusals(loaded as Loaded);
}

/** Names an issue without a path by its place in the file. */
function placed({ path, message, file, line, column }: ConfigIssue): ReloadIssue {
  return { path, message: path === "" ? `${file}:${line}:${column}  ${message}` : message };
}

function report(plan: ReloadPlan, next: SvcConfig, logger: Logger): void {
  if (plan.pendingRestart.length === 0) return;
  const paths = namePaths(plan.pendingRestart);
  const { mode } = next.gateway.reload;
  if (plan.step === "swap" && mode === "hot") logger.warn(`config change requires gateway restart; hot mode ignoring (${paths})`);
  else if (plan.step !== "restart") logger.info(`gateway.reload.mode is off: kept for the next start (${paths})`);
}

/** The paths of a log line; a long list is cut. */
export function namePaths(paths: readonly string[]): string {
  const more = paths.length > NAMED_PATHS ? ` and ${paths.length - NAMED_PATHS} more` : "";
  return paths.slice(0, NAMED_PATHS).join(", ") + more;
}

interface Applying {
  paths: string[];
  deps: PassDeps;
}

async function apply(active: Loaded, loaded: Loaded, { paths, deps }: Applying): Promise<{ swapped: boolean; issues: ReloadIssue[] }> {
  const { logger } = deps;
  const [prev, next] = [active.config, loaded.config];
  const objections = await deps.validate(next, paths);
  if (objections.length > 0) return { swapped: false, issues: objections };
  const prepared = await prepareAll({ prev, next }, { paths, deps });
  if (prepared.refused.length > 0) return { swapped: false, issues: prepared.refused };

  deps.swap(loaded);
  const failed: ReloadIssue[] = [];
  for (const { plugin, part } of prepared.ready) {
    const work = deps.attribute(plugin, async () => part.apply());
    await withLimit(work, PART_LIMIT_MS, () => late("apply")).catch((error: unknown) => {
      failed.push({ path: plugin, message: messageOf(error) });
      logger.error(`config reload: a part of plugin "${plugin}" could not be applied: ${messageOf(error)}`, { error });
    });
  }
  await deps.changed(prev, next, paths);
  const ids = new Set(paths.filter((path) => touches(path, "plugins.entries")).flatMap((path) => pathSteps(path)[2] ?? []));
  for (const { id, status, error } of ids.size > 0 ? await deps.applyEntries([...ids].sort()) : []) {
    if (status === "failed" || status === "rolled-back") failed.push({ path: `plugins.entries.${id}`, message: error ?? status });
  }
  logger.info(`config reload applied (${namePaths(paths)})`);
  return { swapped: true, issues: failed };
}

interface Prepared {
  plugin: string;
  part: PreparedReload;
}

/** All parts the change touches, side by side. One refusal, and what the others prepared is thrown away. */
async function prepareAll(
  configs: { prev: SvcConfig; next: SvcConfig },
  { paths, deps }: Applying,
): Promise<{ ready: Prepared[]; refused: ReloadIssue[] }> {
  const [prev, next] = [deps.mask(configs.prev), deps.mask(configs.next)];
  const touched = deps.participants().filter(({ participant }) => paths.some((path) => participant.prefixes.some((p) => touches(path, p))));
  const settled = await Promise.allSettled(touched.map((named) => prepareOne(named, { prev, next, paths, deps })));
  const ready = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const refused = settled.flatMap((result, i) => {
    if (result.status === "fulfilled") return [];
    const { plugin } = touched[i] as NamedParticipant;
    return [{ path: plugin === "kernel" ? "" : `plugin "${plugin}"`, message: messageOf(result.reason) }];
  });
  if (refused.length > 0) await Promise.all(ready.map((prepared) => discard(prepared, deps)));
  return { ready, refused };
}

interface Preparing {
  prev: SvcConfig;
  next: SvcConfig;
  paths: readonly string[];
  deps: PassDeps;
}

async function prepareOne({ plugin, participant }: NamedParticipant, { prev, next, paths, deps }: Preparing): Promise<Prepared> {
  const limit = new AbortController();
  const work = deps.attribute(plugin, async () => twoWays(await participant.prepare(next, prev, { signal: limit.signal, paths })));
  const part = await withLimit(work, PART_LIMIT_MS, () => {
    limit.abort();
    // A result after the limit has no owner: it is discarded.
    work.then(
      (lost) => discard({ plugin, part: lost }, deps),
      () => undefined,
    );
    return late("prepare");
  });
  return { plugin, part };
}

async function discard({ plugin, part }: Prepared, deps: PassDeps): Promise<void> {
  const work = deps.attribute(plugin, async () => part.discard());
  await withLimit(work, PART_LIMIT_MS, () => late("discard")).catch((error: unknown) =>
    deps.logger.warn(`config reload: plugin "${plugin}" could not discard: ${messageOf(error)}`),
  );
}

function late(step: string): never {
  throw new Error(`${step} did not finish within ${PART_LIMIT_MS / 1000} s`);
}

/** An answer that cannot be applied is a refusal now: after the swap it would leave the part behind. */
function twoWays(part: PreparedReload): PreparedReload {
  if (typeof part?.apply === "function" && typeof part.discard === "function") return part;
  throw new Error("prepare answered without {apply, discard}");
}
