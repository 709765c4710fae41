import { commonErrors } from "../../sdk/errors.ts";
import type { Services } from "../../sdk/types/services.ts";
import { createAttemptLimiter } from "../auth/failure-limiter.ts";
import { whyAbsent } from "../loader/plugins-down.ts";
import { type Boots, beginBoot } from "../operations/boots.ts";
import type { EventLoopMonitor } from "../operations/event-loop.ts";
import type { Listeners } from "../port/listen.ts";
import type { StartupGate } from "../port/startup-gate.ts";
import type { HeldLock } from "../process/lock.ts";
import { type Core, createCore } from "./core.ts";
import { declareFigures } from "./figures.ts";
import { shutdown, start, startJobs } from "./lifecycle.ts";
import { openPlugins } from "./plugins.ts";
import type { Gateway, GatewayOptions } from "./running-gateway.ts";
import { recordRefusal, removeRuntimeFiles, type StartPlan } from "./start-plan.ts";
import { startTransport, type Transport } from "./transport.ts";

export interface BootContext {
  options: GatewayOptions;
  plan: StartPlan;
  lock: HeldLock;
  /** Undefined when the gateway does not listen. */
  listeners: Listeners | undefined;
  startupGate: StartupGate;
  eventLoop: EventLoopMonitor;
}

/** Runs a start behind the open port: shared parts, discovery of plugins, transport, then the plugins themselves. */
export async function assemble({ options, plan, lock, listeners, startupGate, eventLoop }: BootContext): Promise<Gateway> {
  const { logger, paths } = options;
  const boots = listeners && (await noteBoot(options, plan));
  const takeEnvBack = options.exportEnv?.(plan.loaded.env);
  const core = createCore({ options, plan, eventLoop, boots, listeners });
  const mask = await openPlugins(core).catch(async (error: unknown) => {
    takeEnvBack?.();
    await boots?.ended();
    throw error;
  });
  logger.redactWith(() => core.config().logging.redactPatterns);
  provideKernelServices(core, listeners);
  declareFigures(core);
  const transport = startTransport(core, { listeners, startupGate });
  startJobs(core, transport, lock);
  const ready = start(core, transport, mask).catch(async (error: unknown) => {
    await recordRefusal(paths.stateDir, error);
    throw error;
  });
  ready.catch(() => undefined);
  const stop = async (reason: string, { restart, isCrash }: { restart: boolean; isCrash: boolean }) => {
    if (!isCrash)
      await boots
        ?.ended()
        .catch((error: unknown) => logger.warn("the clean stop could not be recorded; it will count as a crash", { error }));
    await shutdown(core, transport, { reason, restart });
    await removeRuntimeFiles(paths.stateDir);
    takeEnvBack?.();
    await lock.release();
    logger.info("stopped", { reason });
  };
  let stopping: Promise<void> | undefined;
  return {
    ...gatewayOf(core, transport),
    ready,
    reload: (reason) => ready.then(() => core.lazy().reloader.reload(reason)),
    close: (reason, { restart = false, isCrash = false } = {}) => (stopping ??= stop(reason, { restart, isCrash })),
  };
}

/** Undefined where nothing can be written; the start itself says so. */
async function noteBoot({ paths, logger }: GatewayOptions, { bootId }: StartPlan): Promise<Boots | undefined> {
  try {
    const boots = await beginBoot(paths.stateDir, { bootId, now: Date.now() });
    if (boots.killed) {
      const began = new Date(boots.killed.startedAt).toISOString();
      logger.warn(
        `the gateway before this one, started ${began}, ended without being asked to: it was killed, had no memory left, or the machine went down; what it had accepted goes on`,
      );
    }
    return boots;
  } catch (error) {
    logger.warn("this start could not be recorded; a crash loop would go unnoticed", { error });
    return undefined;
  }
}

function gatewayOf(core: Core, { listeners }: Transport): Omit<Gateway, "ready" | "reload" | "close"> {
  const { plan, hooks, config, faults, contributions, restarts } = core;
  const { loader } = core.lazy();
  return {
    host: listeners?.host ?? "",
    port: listeners?.port ?? 0,
    portSource: plan.portSource,
    plan,
    hooks,
    config,
    plugins: () => loader.records(),
    summary: () => loader.summary(),
    failPlugin: (id, error) => loader.fail(id, error),
    faults,
    service(name) {
      const found = contributions.view<never>("service").get(name);
      if (!found) throw commonErrors.serviceUnavailable({ service: name, why: whyAbsent(loader, name) });
      return found.value;
    },
    contributions: contributions.view,
    tap: (hook, fn) => hooks.tap(hook, { plugin: "kernel", order: -1, fn: (event: never) => void fn(event) }),
    mayRestart: () => config().commands.restart !== false,
    requestRestart: (reason) => restarts.request(reason, reason),
  };
}

function provideKernelServices(core: Core, listeners: Listeners | undefined): void {
  const { options, plan, startedAt, health, restarts, holds } = core;
  const { configPath, stateDir } = options.paths;
  const value: Services["gateway@1"] = {
    info: () => ({
      version: options.version,
      bootId: plan.bootId,
      stateDir,
      configPath,
      startedAt,
      phase: core.phase,
      host: listeners?.host ?? "",
      port: listeners?.port ?? 0,
      authMode: plan.auth.mode,
    }),
    clients: core.fanout.subscribers,
    endDevice: core.deviceConnections.end,
    beacon: core.presence.beacon,
    memoryStage: core.pressure.stage,
    invalidateHealth: health.invalidate,
    refuseStart(error) {
      core.startRefusal ??= error;
    },
    publish: core.published.add,
    setReadiness(part, problem) {
      if (core.notReady.get(part) === problem) return;
      health.refresh();
      if (problem === undefined) core.notReady.delete(part);
      else core.notReady.set(part, problem);
    },
    requestRestart: (reason) => restarts.request(reason, reason),
    limitAttempts: (limits) => createAttemptLimiter(limits, () => core.clock.monotonic()),
    hold: holds.hold,
    redact: options.logger.redactText,
    async tailLog(question) {
      const { currentLogFile, tailLog } = await import("../process/log-tail.ts");
      return tailLog(await currentLogFile(stateDir, core.config().logging.file, new Date(core.clock.now())), question);
    },
  };
  core.contributions.add("service", { id: "gateway@1", owner: "kernel", order: -1, value });
  const diagnostics: Services["diagnostics@1"] = { metrics: core.metrics.read, recordSpans: core.tracer.record };
  core.contributions.add("service", { id: "diagnostics@1", owner: "kernel", order: -1, value: diagnostics });
  // The machinery is read by the first who opens one.
  const sandbox: Services["sandbox@1"] = {
    openTransforms: async (how) => (await import("../sandbox/transform-sandbox.ts")).createTransformSandbox(how),
  };
  core.contributions.add("service", { id: "sandbox@1", owner: "kernel", order: -1, value: sandbox });
}
