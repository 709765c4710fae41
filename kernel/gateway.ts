import { SvcError } from "../sdk/errors.ts";
import { acquireStateLock } from "../sdk/host/lock.ts";
import type { RootLogger } from "../sdk/host/logger.ts";
import type { Env, ProfilePaths } from "../sdk/host/paths.ts";
import type { PluginFaults } from "../sdk/plugin-faults.ts";
import type { RunningGateway, StartFlags } from "../sdk/types/host-gateway.ts";
import type { PluginRecord } from "../sdk/types/plugin-record.ts";
import type { Services } from "../sdk/types/services.ts";
import { type Core, createCore } from "./core.ts";
import { comeUp, goDown, startJobs } from "./course.ts";
import { type Doors, openDoors } from "./doors.ts";
import type { HookBus } from "./hooks/bus.ts";
import type { Host } from "./loader/context.ts";
import { openPlugins } from "./plugins.ts";
import { planStart, recordRefusal, removeRuntimeFiles, type StartPlan, writeRuntimeToken } from "./start.ts";

/** `clock` (with timers, if it has some) and `fetch` are what plugins get instead of the process's own, in tests. */
export interface GatewayOptions extends Partial<Pick<Host, "clock" | "fetch">> {
  paths: ProfilePaths;
  env: Env;
  logger: RootLogger;
  version: string;
  flags?: StartFlags;
  /** False: no listener; for commands that work on files while no gateway runs. */
  listen?: boolean;
  /** Only these plugins and what they require. */
  only?: string[];
  takePort?: (host: string, port: number) => Promise<void>;
  /** How long a start waits for the state lock of another gateway; default 5 s. */
  lockWaitMs?: number;
  /** How long boot waits for slow plugins of third parties; default 3 s. */
  stragglerMs?: number | undefined;
  /** First pause of a plugin that asks to be tried later; default 5 s. */
  retryMs?: number | undefined;
  /** Called once, when a restart that was asked for is due; without it the gateway only logs. */
  onRestartDue?: (reason: string) => void;
  /** Gives the process the variables of the config, until the returned function is called; plugins read them there. */
  exportEnv?: (env: Env) => () => void;
  /** `performance.now()` of the restart this start belongs to; the next one keeps its distance. */
  restartedAt?: number;
  /** The environment a start would have now; default: `env`. */
  readEnv?: () => Promise<Env>;
}

export interface Gateway extends RunningGateway {
  readonly host: string;
  readonly port: number;
  readonly portSource: StartPlan["portSource"];
  readonly plan: StartPlan;
  readonly hooks: HookBus;
  plugins(): PluginRecord[];
  summary(): string;
  /** Ends a plugin whose code threw where nobody could catch it; false when no such plugin runs. */
  failPlugin(id: string, error: unknown): Promise<boolean>;
  /** What plugins do wrong where nobody waits for them. */
  readonly faults: PluginFaults;
  service<K extends keyof Services>(name: K): Services[K];
}

/**
 * Starts a gateway: guards, lock, listener, then plugins behind it. Resolves once the port listens.
 * @throws {SvcError} `already-listening`, `invalid-config`, `start-blocked`, `secret-unresolved`, `bind-without-auth`, `lock-held`, `port-taken`, `bind-failed`
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const listen = options.listen ?? true;
  try {
    const plan = await planStart({
      paths: options.paths,
      env: options.env,
      flags: options.flags ?? {},
      listen,
      takePort: options.takePort,
    });
    const { configPath, stateDir } = options.paths;
    const record = { configPath, stateDir, port: listen ? plan.port : null, version: options.version };
    const lock = await acquireStateLock(record, options.lockWaitMs);
    try {
      await writeRuntimeToken(options.paths.stateDir, plan.auth);
      return await boot(options, plan, lock);
    } catch (error) {
      await removeRuntimeFiles(options.paths.stateDir);
      await lock.release();
      throw error;
    }
  } catch (error) {
    await recordRefusal(options.paths.stateDir, error);
    throw error;
  }
}

type StateLock = Awaited<ReturnType<typeof acquireStateLock>>;

/** The order of a start: shared parts, plugins looked for, port open; then, behind it, plugins loaded. */
async function boot(options: GatewayOptions, plan: StartPlan, lock: StateLock): Promise<Gateway> {
  const { logger, paths } = options;
  for (const secret of [...plan.loaded.secrets.values(), plan.auth.secret]) logger.addSecret(secret);
  for (const note of plan.notes) logger.info(note);
  const takeEnvBack = options.exportEnv?.(plan.loaded.env);
  const core = createCore(options, plan);
  logger.redactWith(() => plan.config.logging.redactPatterns);
  const { mask } = await openPlugins(core);
  logger.redactWith(() => core.config().logging.redactPatterns);
  provideGatewayService(core, () => doors.listeners);
  const doors: Doors = await openDoors(core);
  if (doors.listeners) await lock.update({ port: doors.listeners.port });
  startJobs(core);
  const ready = comeUp(core, doors, mask).catch(async (error: unknown) => {
    await recordRefusal(paths.stateDir, error);
    throw error;
  });
  ready.catch(() => undefined);
  const stop = async (reason: string, restart: boolean) => {
    await goDown(core, doors, { reason, restart });
    await removeRuntimeFiles(paths.stateDir);
    takeEnvBack?.();
    await lock.release();
    logger.info("stopped", { reason });
  };
  let stopping: Promise<void> | undefined;
  return {
    ...gatewayOf(core, doors),
    ready,
    reload: (reason) => ready.then(() => core.late().reloader.reload(reason)),
    close: (reason, { restart = false } = {}) => (stopping ??= stop(reason, restart)),
  };
}

function gatewayOf(core: Core, { listeners }: Doors): Omit<Gateway, "ready" | "reload" | "close"> {
  const { plan, hooks, config, faults, contributions, restarts } = core;
  const { loader } = core.late();
  return {
    host: listeners?.host ?? "",
    port: listeners?.port ?? 0,
    portSource: plan.portSource,
    plan,
    hooks,
    config,
    plugins: loader.records,
    summary: loader.summary,
    failPlugin: loader.fail,
    faults,
    service(name) {
      const found = contributions.view<never>("service").get(name);
      if (!found) throw new SvcError("service-unavailable", { service: name });
      return found.value;
    },
    tap: (hook, fn) => hooks.tap(hook, { plugin: "kernel", order: -1, fn: (event: never) => void fn(event) }),
    mayRestart: () => config().commands.restart !== false,
    requestRestart: (reason) => restarts.request(reason, reason),
  };
}

function provideGatewayService(core: Core, listeners: () => Doors["listeners"]): void {
  const { options, plan, startedAt, health, restarts, holds } = core;
  const { configPath, stateDir } = options.paths;
  const value: Services["gateway@1"] = {
    info: () => ({
      ...{ version: options.version, bootId: plan.bootId, stateDir, configPath, startedAt, phase: core.phase },
      host: listeners()?.host ?? "",
      port: listeners()?.port ?? 0,
    }),
    invalidateHealth: health.invalidate,
    requestRestart: (reason) => restarts.request(reason, reason),
    hold: holds.hold,
  };
  core.contributions.add("service", { id: "gateway@1", owner: "kernel", order: -1, value });
}
