import type { SvcConfig } from "../../sdk/config/root.ts";
import { commonErrors, messageOf, type SvcError } from "../../sdk/errors.ts";
import type { HealthPart } from "../../sdk/hooks.ts";
import { addressBucket } from "../../sdk/internal/addresses.ts";
import { RawJson } from "../../sdk/internal/raw-json.ts";
import type { EventSpec } from "../../sdk/protocol/events.ts";
import type { StateVersion } from "../../sdk/protocol/frames.ts";
import type { Clock } from "../../sdk/types/common.ts";
import type { Devices } from "../../sdk/types/devices.ts";
import type { Store } from "../../sdk/types/store.ts";
import { isLoopback } from "../auth/address-ranges.ts";
import { type Authenticator, createAuthenticator } from "../auth/authenticator.ts";
import { createDeviceConnections, type DeviceConnections } from "../auth/devices/device-connections.ts";
import { createFailureLimiter } from "../auth/failure-limiter.ts";
import { createPublishedOrigins, type PublishedOrigins } from "../auth/published-origins.ts";
import type { Reloader } from "../config/reloader.ts";
import { unservedSummary } from "../config/unserved.ts";
import { createHookBus, type HookBus } from "../hooks/bus.ts";
import { operatorLimitMs } from "../hooks/operator-limit.ts";
import { type Activation, createActivation } from "../loader/activation.ts";
import { type Contributions, createContributions } from "../loader/contributions.ts";
import type { Loader } from "../loader/loader.ts";
import { toPluginHealth } from "../loader/plugin-summary.ts";
import { downParts, findDownOwner, whyUnserved } from "../loader/plugins-down.ts";
import type { TimedClock } from "../loader/timers.ts";
import type { Boots } from "../operations/boots.ts";
import type { EventLoopMonitor } from "../operations/event-loop.ts";
import { createHealth, type Health } from "../operations/health.ts";
import { createHolds, type Holds } from "../operations/holds.ts";
import { createJobs, type Jobs } from "../operations/jobs.ts";
import { createMemoryPressure, isAtLeast, type MemoryPressure } from "../operations/memory-pressure.ts";
import { createMetricRegistry, type MetricRegistry } from "../operations/metrics/registry.ts";
import { createPluginFaults, type PluginFaults } from "../operations/plugin-faults.ts";
import { createPresence, type Presence } from "../operations/presence.ts";
import { createRestartDeferral, type RestartDeferral } from "../operations/restart-deferral.ts";
import { createSafeMode, type SafeMode, type SetTimeout, undoableTimeout } from "../operations/safe-mode.ts";
import { createTracer, type Tracer } from "../operations/tracer.ts";
import { createFanout, type Fanout } from "../port/fanout/fanout.ts";
import type { Listeners } from "../port/listen.ts";
import { createMethodRegistry, type MethodDeps, type MethodRegistry, type PluginRow } from "../port/methods/registry.ts";
import type { Phase } from "../port/probes.ts";
import { createRouteTable, type RouteTable } from "../port/routes.ts";
import { createPortTelemetry, type PortTelemetry } from "../port/telemetry.ts";
import type { RootLogger } from "../process/logger.ts";
import { envValue } from "../process/paths.ts";
import { isSupervised } from "../process/supervisor.ts";
import { secretHealth } from "../secrets/reload-result.ts";
import type { GatewayOptions } from "./running-gateway.ts";
import { checkNextStart, type StartPlan } from "./start-plan.ts";

/** Parts created from plugins and config, which the rest gets access to only later. */
export interface LazyParts {
  loader: Loader;
  /** Row of a method in the table of a plugin that was found, whether it runs or not. */
  methodRow(name: string): PluginRow | undefined;
  /** Rows of the events that plugins of this release send, whether they run or not. */
  eventRows: ReadonlyMap<string, EventSpec>;
  reloader: Reloader;
}

/** The registries and clocks that every part of one gateway shares. */
export interface Core {
  readonly options: GatewayOptions;
  readonly plan: StartPlan;
  readonly logger: RootLogger;
  readonly clock: Clock;
  readonly startedAt: number;
  uptimeMs(): number;
  phase: Phase;
  readonly safeMode: SafeMode;
  /** A plugin without which nothing should be served could not start for a reason that only an operator can remove. */
  startRefusal: SvcError | undefined;
  /** Reasons why the gateway should get no new work, by part of health. */
  readonly notReady: Map<string, string>;
  /** Aborted when a stop begins. */
  readonly leaving: AbortController;
  readonly pressure: MemoryPressure;
  readonly holds: Holds;
  readonly faults: PluginFaults;
  readonly hooks: HookBus;
  readonly activation: Activation;
  readonly contributions: Contributions;
  readonly methods: MethodRegistry;
  readonly routes: RouteTable;
  readonly fanout: Fanout;
  readonly presence: Presence;
  readonly metrics: MetricRegistry;
  readonly tracer: Tracer;
  readonly telemetry: PortTelemetry;
  readonly health: Health;
  readonly eventLoop: EventLoopMonitor;
  stateVersion(): StateVersion;
  readonly jobs: Jobs;
  readonly restarts: RestartDeferral;
  /** Rejects with what the next start would be refused for. */
  checkRestart(): Promise<void>;
  readonly authenticator: Authenticator;
  readonly deviceConnections: DeviceConnections;
  /** Origins under which plugins publish the gateway. */
  readonly published: PublishedOrigins;
  /** The plugin that keeps paired devices. @throws {SvcError} `service-unavailable` while it is down; names it */
  devices(): Devices;
  /** Undefined while the plugin that keeps the state is down. */
  store(): Store | undefined;
  /** The snapshot in force. */
  config(): SvcConfig;
  lazy(): LazyParts;
  /** Before the first request and the first look at health. */
  bindLazy(late: LazyParts): void;
}

/** Parts of a start that exist before the core. */
export interface CoreParts {
  options: GatewayOptions;
  plan: StartPlan;
  eventLoop: EventLoopMonitor;
  /** Undefined when the gateway does not listen. */
  boots: Boots | undefined;
  /** Undefined when the gateway does not listen. */
  listeners: Pick<Listeners, "outbound" | "connections"> | undefined;
}

/** The clock of a test drives what waits, too. */
function laterOn(clock: GatewayOptions["clock"]): SetTimeout {
  return (clock as TimedClock | undefined)?.setTimeout ?? undoableTimeout;
}

function safeModeOf({ logger, paths, clock: given, env }: GatewayOptions, parts: Pick<CoreParts, "boots"> & { clock: Clock }): SafeMode {
  const isForbidden = envValue(env, "SVC_SAFE_MODE") === "off";
  return createSafeMode({ ...parts, logger, stateDir: paths.stateDir, setTimeout: laterOn(given), isForbidden });
}

/** Makes the shared parts in the order in which they need each other. */
export function createCore({ options, plan, eventLoop, boots, listeners }: CoreParts): Core {
  const { logger } = options;
  const clock: Clock = { now: Date.now, monotonic: () => performance.now() };
  const { monotonic } = options.clock ?? clock;
  const started = clock.monotonic();
  const uptimeMs = () => Math.round(clock.monotonic() - started);
  let attached: LazyParts | undefined;
  const late = () => attached as LazyParts;
  const config = () => late().reloader.current().config;

  const holds = createHolds();
  const diagnostics = openDiagnostics({ plan, logger }, (owner) => faults.failed(owner));
  const { metrics, telemetry } = diagnostics;
  const faults = createPluginFaults({ monotonic, logger, metrics, degrade: (...why) => late().loader.degrade(...why) });
  const hooks = createHookBus(logger.child("hooks"), {
    monotonic,
    timeoutMs: (plugin, hook) => operatorLimitMs(config(), plugin, hook),
    onFailure: faults.failed,
    onMoved: () => health.invalidate(),
  });
  const activation = createActivation();
  const fanout = createFanout({ monotonic, outbound: listeners?.outbound, eventRow: (name) => attached?.eventRows.get(name) });
  const presence = createPresence({ version: options.version, bootId: plan.bootId, ...clock, isLoopback });
  const jobs = createJobs({ logger, now: clock.monotonic });
  const health: Health = healthOf(() => core, { clock, listeners });
  const safeMode = safeModeOf(options, { boots, clock });
  const checkRestart = async () => checkNextStart({ ...options, env: (await options.readEnv?.()) ?? options.env });
  const leaving = new AbortController();
  const restarts = restartsOf({ options, logger, holds, config, checkRestart, health });
  const authenticator = authenticatorOf({ plan, config, monotonic, hooks });
  const contributions = createContributions(activation);
  const store = () => contributions.view<Store>("service").get("store@2")?.value;
  const core: Core = {
    options,
    plan,
    logger,
    clock,
    uptimeMs,
    holds,
    faults,
    hooks,
    activation,
    fanout,
    presence,
    ...diagnostics,
    jobs,
    health,
    eventLoop,
    restarts,
    checkRestart,
    pressure: pressureOf(options.memory, () => core),
    authenticator,
    contributions,
    store,
    devices: () => devicesOf(contributions, late().loader),
    deviceConnections: createDeviceConnections(),
    published: createPublishedOrigins(),
    safeMode,
    startedAt: clock.now(),
    phase: "starting",
    startRefusal: undefined,
    notReady: new Map(),
    leaving,
    methods: openMethods({ hooks, logger, telemetry, activation, leaving: leaving.signal }, () => attached),
    routes: createRouteTable(),
    stateVersion: () => ({ presence: presence.version(), health: health.version() }),
    config,
    lazy: late,
    bindLazy(parts) {
      attached = parts;
    },
  };
  return core;
}

/** @param onFault called for a plugin whose gauge could not be read */
function openDiagnostics(
  { plan, logger }: Pick<Core, "plan" | "logger">,
  onFault: (plugin: string) => void,
): Pick<Core, "metrics" | "tracer" | "telemetry"> {
  const metrics = createMetricRegistry((owner, error) => {
    logger.warn(`a gauge of plugin "${owner}" could not be read: ${messageOf(error)}`);
    onFault(owner);
  });
  metrics.enable(plan.config.diagnostics.enabled);
  const tracer = createTracer();
  return { metrics, tracer, telemetry: createPortTelemetry(metrics, tracer) };
}

/** @throws {SvcError} `service-unavailable` that names the plugin and its state */
function devicesOf(contributions: Contributions, loader: Loader): Devices {
  const found = contributions.view<Devices>("service").get("devices@1");
  if (!found) throw commonErrors.serviceUnavailable({ service: "devices@1", why: whyUnserved(loader, "devices@1") });
  return found.value;
}

/** Part of health that names config keys without effect. */
function configParts({ reloader }: LazyParts): HealthPart[] {
  const message = unservedSummary(reloader.current().unserved);
  return message === undefined ? [] : [{ part: "config", ok: false, message }];
}

/** Methods of the gateway; the tables of plugins are asked once they are there. */
function openMethods(deps: Omit<MethodDeps, "row" | "down">, attached: () => LazyParts | undefined): MethodRegistry {
  return createMethodRegistry({
    ...deps,
    row: (name) => attached()?.methodRow(name),
    down: (name) => downOwnerOf(name, attached() as LazyParts),
  });
}

function downOwnerOf(method: string, { loader }: LazyParts): ReturnType<typeof findDownOwner> {
  return findDownOwner(loader, "rpc", (declared, id) => declared === method || (declared === "*" && method.startsWith(`${id}.`)));
}

function authenticatorOf(parts: Pick<Core, "plan" | "config" | "hooks"> & { monotonic(): number }): Authenticator {
  const { plan, config, monotonic, hooks } = parts;
  const limiter = createFailureLimiter(() => config().gateway.auth.rateLimit, monotonic, addressBucket);
  return createAuthenticator(plan.auth, limiter, (given, transport, { address }) =>
    hooks.isUsed("auth.identify") ? hooks.run("auth.identify", { credentials: given, transport, remote: address }) : undefined,
  );
}

/** @param core read when health is collected: its parts know each other only by then */
function healthOf(core: () => Core, { clock, listeners }: Pick<CoreParts, "listeners"> & { clock: Clock }): Health {
  return createHealth({
    async collect(deep) {
      const { hooks, jobs, faults, safeMode, pressure, lazy } = core();
      pressure.look();
      return [
        ...configParts(lazy()),
        ...(await hooks.run("health.collect", { deep })),
        jobs.look().part,
        ...faults.parts(),
        ...(listeners ? [listeners.connections()] : []),
        ...downParts(lazy().loader),
        ...safeMode.parts(),
        ...pressure.parts(),
      ];
    },
    now: clock.now,
    base() {
      const { uptimeMs, options, phase, hooks, restarts, lazy } = core();
      const { loader, reloader } = lazy();
      return {
        uptimeMs: uptimeMs(),
        version: options.version,
        phase,
        plugins: toPluginHealth(loader.records(), hooks.quarantined()),
        secrets: secretHealth(reloader.current().secretState),
        configReload: { ...reloader.status(), restart: restarts.pending() },
      };
    },
    monotonic: clock.monotonic,
    eventLoop: () => core().eventLoop.figures(),
    publish: (text, only) => core().fanout.emit("health", new RawJson(text), { stateVersion: core().stateVersion(), only }),
    onFault: (error) => core().logger.warn("health could not be collected", { error }),
  });
}

/** @param core read when memory is looked at */
function pressureOf(gauge: GatewayOptions["memory"], core: () => Core): MemoryPressure {
  return createMemoryPressure({
    gauge,
    uptimeMs: () => core().uptimeMs(),
    onStage(stage, message) {
      const { logger, notReady, health, hooks } = core();
      if (stage === "none") logger.info(message);
      else logger.warn(message);
      if (isAtLeast(stage, "work")) notReady.set("memoryPressure", message);
      else notReady.delete("memoryPressure");
      health.refresh();
      void hooks.run("gateway.pressure", { stage });
    },
    onExhausted(message) {
      const { logger, options } = core();
      if (isSupervised(options.env)) options.onRestartDue?.(message);
      else logger.error("nothing starts this gateway again, so it does not end itself; restart it before the system ends it");
    },
  });
}

function restartsOf(
  parts: Pick<Core, "options" | "logger" | "holds" | "config" | "checkRestart" | "health">,
): ReturnType<typeof createRestartDeferral> {
  const { options, logger, holds, config, checkRestart, health } = parts;
  return createRestartDeferral({
    holds,
    limitMs: () => config().gateway.reload.deferralTimeoutMs,
    restartedAt: options.restartedAt,
    logger,
    refusal: () => checkRestart().then(() => undefined, messageOf),
    onDue: (reason) => options.onRestartDue?.(reason),
    onChange: health.refresh,
  });
}
