import { access } from "node:fs/promises";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { writeFileAtomic } from "../../sdk/files.ts";
import type { HealthPart } from "../../sdk/hooks.ts";
import { limits } from "../../sdk/protocol/frames.ts";
import { withLimit } from "../../sdk/time.ts";
import type { Env } from "../../sdk/types/common.ts";
import type { PluginRecord } from "../../sdk/types/plugin-record.ts";
import { saveLastGood } from "../config/last-good.ts";
import { kernelErrors } from "../errors.ts";
import { SAFE_MODE_CODE } from "../loader/discovery.ts";
import { createClockWatch } from "../operations/clock-watch.ts";
import { createGapDetector } from "../operations/gap-detector.ts";
import { createLockWatch, LOCK_LOOK_MS } from "../operations/lock-watch.ts";
import { MEMORY_LOOK_MS } from "../operations/memory-pressure.ts";
import { isServing } from "../port/probes.ts";
import type { HeldLock } from "../process/lock.ts";
import { envValue } from "../process/paths.ts";
import type { Core } from "./core.ts";
import { completeSecrets, forgetRefusal, runtimeInfoPath, writeRuntimeToken } from "./start-plan.ts";
import type { Transport } from "./transport.ts";

/** Time between the shutdown of a restart and the next hello, as announced to clients. */
const RESTART_EXPECTED_MS = 1_500;

const SLOW_CONSUMERS_MS = 5_000;
/** So long before a supervisor would end the process, a stop is over. */
const STOP_MARGIN_MS = 5_000;
/** Plugins have this long together, whatever the drain took. */
const MIN_PLUGIN_STOP_MS = 3_000;

/** Starts the periodic jobs of a gateway. */
export function startJobs(core: Core, transport: Transport, lock: HeldLock): void {
  const { clock, jobs, logger, hooks, health, presence, fanout, notReady } = core;
  const gap = createGapDetector(clock, limits.tickIntervalMs);
  const clockWatch = createClockWatch({ clock, stateDir: core.options.paths.stateDir, logger, refresh: health.refresh });
  jobs.every("tick", limits.tickIntervalMs, () => {
    clockWatch.look();
    const gapMs = gap();
    if (gapMs !== undefined) {
      logger.warn(`the process stood still for ${Math.round(gapMs / 1000)} s; refreshing outside connections`);
      health.refresh();
      void hooks.run("gateway.resumed", { gapMs });
    }
    presence.tick();
    fanout.emit("tick", { ts: clock.now() });
    jobs.look();
  });
  jobs.every("health", limits.healthCacheMs, health.refresh);
  jobs.every("memory", MEMORY_LOOK_MS, core.pressure.look);
  jobs.every("slowConsumers", SLOW_CONSUMERS_MS, fanout.cutStalled);
  const watch = createLockWatch({ lock, logger, notReady, keepTraces: () => keepTraces(core, transport), refresh: health.refresh });
  const collect = (_: unknown, { report }: { report(part: HealthPart): void }) => [...watch.parts(), ...clockWatch.parts()].forEach(report);
  hooks.tap("health.collect", { plugin: "kernel", order: -1, fn: collect });
  jobs.every("lock", LOCK_LOOK_MS, () => void watch.look());
}

/** Takes a gateway from an open port to `ready`: remaining secrets, plugins, their view of the config. A stop that begins meanwhile ends it early. */
export async function start(core: Core, transport: Transport, mask: (plain: SvcConfig) => SvcConfig): Promise<void> {
  const { options, plan, logger, hooks, config, uptimeMs } = core;
  const { loader, reloader } = core.lazy();
  const isLeaving = () => core.leaving.signal.aborted;
  core.phase = "plugins";
  reloader.adopt(await completeSecrets(plan, { env: options.env, signal: core.leaving.signal }));
  if (isLeaving()) return;
  await loader.loadAll();
  if (isLeaving()) return;
  logger.info(loader.summary());
  if (core.startRefusal) throw core.startRefusal;
  const failed = failedRequired(config().plugins.entries, loader.records());
  if (failed) throw kernelErrors.requiredPluginFailed(failed);
  for (const issue of await hooks.run("config.validate", { config: mask(config()), paths: [] }))
    logger.warn(`config: ${issue.path}: ${issue.message}`);
  if (isLeaving()) return;
  core.phase = core.safeMode.isOn() ? "safe-mode" : "ready";
  reloader.start();
  core.health.invalidate();
  await leaveTraces(core, transport);
  await transport.listeners?.checkRoom();
  core.pressure.look();
  if (core.safeMode.isOn()) return core.safeMode.watch(() => leaveSafeMode(core));
  await keepGoodConfig(core);
  logger.info("ready", { ms: uptimeMs() });
  await hooks.run("gateway.ready", { uptimeMs: uptimeMs() });
}

/** The first plugin with `plugins.entries.<id>.required` that does not run, and why; undefined when all of them do. */
function failedRequired(
  entries: SvcConfig["plugins"]["entries"],
  records: readonly PluginRecord[],
): { plugin: string; reason: string } | undefined {
  for (const [plugin, entry] of Object.entries(entries)) {
    const record = records.find((r) => r.id === plugin);
    if (!entry.required || record?.state === "active" || record?.state === "degraded") continue;
    return { plugin, reason: record?.reason ?? "not found" };
  }
  return undefined;
}

/** Starts everything that safe mode kept off: plugins of third parties first, as in any start. */
async function leaveSafeMode(core: Core): Promise<void> {
  if (core.leaving.signal.aborted) return;
  const { loader } = core.lazy();
  core.phase = "ready";
  core.health.refresh();
  const waiting = loader.records().filter(({ code }) => code === SAFE_MODE_CODE);
  await loader.applyEntries(waiting.map(({ id }) => id));
  await keepGoodConfig(core);
  core.logger.info("ready", { ms: core.uptimeMs() });
  await core.hooks.run("gateway.ready", { uptimeMs: core.uptimeMs() });
}

/** Writes the file by which commands find the gateway. */
async function leaveTraces({ options, plan, startedAt }: Core, { listeners }: Transport): Promise<void> {
  if (!listeners) return;
  const { port, host } = listeners;
  const info = { pid: process.pid, port, host, bind: plan.bindMode, version: options.version, startedAt };
  await writeFileAtomic(runtimeInfoPath(options.paths.stateDir), JSON.stringify(info));
  await forgetRefusal(options.paths.stateDir);
}

/** Writes again what commands find the gateway by, when somebody has removed it. */
async function keepTraces(core: Core, transport: Transport): Promise<void> {
  const { stateDir } = core.options.paths;
  const isThere = await access(runtimeInfoPath(stateDir)).then(
    () => true,
    () => false,
  );
  if (isThere || !isServing(core.phase)) return;
  await writeRuntimeToken(stateDir, core.plan.auth);
  await leaveTraces(core, transport);
}

/** Saves a config that worked, for the doctor. One that gateways crash with is none. */
async function keepGoodConfig({ options, logger, lazy: late }: Core): Promise<void> {
  if (options.listen === false) return;
  if (envValue(options.env, "SVC_CONFIG_READONLY") === "1") return;
  await saveLastGood(late().reloader.current()).catch((error: unknown) => logger.warn("the last-good config was not saved", { error }));
}

/** Pending sends get this long however hurried the restart is. */
const LEAST_DRAIN_MS = 2_000;

/** Time of a stop before a supervisor ends the process (`SVC_STOP_TIMEOUT_MS`), less what the end of it takes; without one there is no limit. Pure. */
export function stopBudget(env: Env): number {
  const timeoutMs = Number(envValue(env, "SVC_STOP_TIMEOUT_MS") ?? Number.NaN);
  return Number.isFinite(timeoutMs) && timeoutMs > 0 ? Math.max(0, timeoutMs - STOP_MARGIN_MS) : Number.POSITIVE_INFINITY;
}

/** Time that a stop waits for what is held: as configured, or as the restart was asked for, and within the budget of the stop. Pure. */
export function drainBudgetMs({ drainMs, waitMs, env }: { drainMs: number; waitMs: number | undefined; env: Env }): number {
  const wanted = waitMs === undefined ? drainMs : Math.min(drainMs, Math.max(waitMs, LEAST_DRAIN_MS));
  return Math.min(wanted, stopBudget(env));
}

/** Shuts a gateway down: drain, plugins, `shutdown` event, close frames, port. Work that is held may take `gateway.shutdown.drainMs`, the hook's part included. */
export async function shutdown(core: Core, transport: Transport, { reason, restart }: { reason: string; restart: boolean }): Promise<void> {
  const { hooks, fanout, holds, jobs, restarts, uptimeMs } = core;
  const { loader, reloader } = core.lazy();
  core.phase = "draining";
  core.leaving.abort();
  const budgetMs = stopBudget(core.options.env);
  const drainMs = core.config().gateway.shutdown.drainMs;
  const deadlineMs = drainBudgetMs({ drainMs, env: core.options.env, waitMs: restart ? restarts.waitMs() : undefined });
  restarts.dispose();
  await reloader.dispose();
  const begun = uptimeMs();
  await withLimit(hooks.run("gateway.stopping", { reason, deadlineMs }), deadlineMs, () => undefined);
  await holds.whenFree(Math.max(0, deadlineMs - (uptimeMs() - begun)));
  // Plugins have a limit each; all of them together end before the supervisor loses its patience.
  const leftMs = Math.max(MIN_PLUGIN_STOP_MS, budgetMs - (uptimeMs() - begun));
  const cutOff = () => core.logger.warn(`plugins did not stop within ${Math.round(leftMs / 1000)} s; ending without them`);
  if (Number.isFinite(leftMs)) await withLimit(loader.stopAll(), leftMs, cutOff);
  else await loader.stopAll();
  jobs.dispose();
  core.safeMode.dispose();
  fanout.emit("shutdown", { reason, ...(restart ? { restartExpectedMs: RESTART_EXPECTED_MS } : {}) });
  await fanout.flushed(limits.shutdownFlushMs);
  await transport.close(restart);
  core.health.dispose();
  core.eventLoop.dispose();
  core.phase = "stopped";
}
