import { dirname, join } from "node:path";
import { resolveAgents } from "../sdk/agents.ts";
import { knownIdsOf, requireKnownChannels, unknownIdWarnings } from "../sdk/config/known-ids.ts";
import { saveLastGood } from "../sdk/config/last-good.ts";
import type { SvcConfig } from "../sdk/config/root.ts";
import { SvcError } from "../sdk/errors.ts";
import { createFailureLimiter } from "../sdk/failure-limiter.ts";
import { writeFileAtomic } from "../sdk/files.ts";
import { createGapDetector } from "../sdk/gap-detector.ts";
import { createHealth } from "../sdk/health.ts";
import { createHolds } from "../sdk/holds.ts";
import { operatorLimitMs } from "../sdk/hooks/operator-limit.ts";
import { acquireStateLock } from "../sdk/host/lock.ts";
import type { RootLogger } from "../sdk/host/logger.ts";
import { type Env, envValue, type ProfilePaths } from "../sdk/host/paths.ts";
import { createJobs } from "../sdk/jobs.ts";
import { withLimit } from "../sdk/limit.ts";
import { createActivation } from "../sdk/loader/activation.ts";
import type { DiscoveryRequest } from "../sdk/loader/discover.ts";
import { createLoader } from "../sdk/loader/loader.ts";
import { maskConfig, secretAt } from "../sdk/loader/secret-paths.ts";
import { createPluginFaults, type PluginFaults } from "../sdk/plugin-faults.ts";
import { withRequirements } from "../sdk/plugin-order.ts";
import { toPluginHealth } from "../sdk/plugin-summary.ts";
import { createPresence } from "../sdk/presence.ts";
import { limits } from "../sdk/protocol/frames.ts";
import { failedRequired } from "../sdk/required-plugins.ts";
import { createRestartDeferral } from "../sdk/restart-deferral.ts";
import { secretHealth } from "../sdk/secrets/reload-result.ts";
import type { RunningGateway, StartFlags } from "../sdk/types/host-gateway.ts";
import type { PluginRecord } from "../sdk/types/plugin-record.ts";
import type { Services } from "../sdk/types/services.ts";
import { createAuthenticator } from "./auth/authenticator.ts";
import { allowedOrigins, isKnownHost, isOriginAllowed } from "./auth/origins.ts";
import { addressBucket, isLoopback, remoteOf } from "./auth/remote.ts";
import { createConfigHost, registerConfigMethods } from "./config/methods.ts";
import { createReloader } from "./config/reload.ts";
import { createContributions } from "./contributions.ts";
import { createHello } from "./hello.ts";
import { createHookBus, type HookBus } from "./hooks/bus.ts";
import { registerKernelMethods } from "./kernel-methods.ts";
import { createInstance, type Host } from "./loader/context.ts";
import { discoverOne, discoverPlugins, inspectPluginFolder } from "./loader/discovery.ts";
import { importModule, isCompiledBundle } from "./loader/import.ts";
import { registerPluginMethods } from "./plugin-methods.ts";
import { createFanout } from "./port/events.ts";
import { admitClient } from "./port/handshake.ts";
import { createHttpHandler } from "./port/http.ts";
import { type Listeners, openListeners } from "./port/listen.ts";
import { createMethodRegistry } from "./port/methods.ts";
import type { Phase } from "./port/probes.ts";
import { createRouteTable } from "./port/routes.ts";
import { createSockets } from "./port/sockets.ts";
import { registerSecretsMethods } from "./secrets-methods.ts";
import {
  completeSecrets,
  planStart,
  recordRefusal,
  removeRuntimeFiles,
  runtimeInfoPath,
  type StartPlan,
  writeRuntimeToken,
} from "./start.ts";

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

async function boot(options: GatewayOptions, plan: StartPlan, lock: Awaited<ReturnType<typeof acquireStateLock>>): Promise<Gateway> {
  const { logger, paths } = options;
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const startedAt = clock.now();
  const started = clock.monotonic();
  const uptimeMs = () => Math.round(clock.monotonic() - started);
  for (const secret of [...plan.loaded.secrets.values(), plan.auth.secret]) logger.addSecret(secret);
  for (const note of plan.notes) logger.info(note);
  const takeEnvBack = options.exportEnv?.(plan.loaded.env);
  let phase: Phase = "starting";
  let listeners: Listeners | undefined;
  const stopped = new AbortController();
  const leaving = new AbortController();
  const holds = createHolds();

  const faults = createPluginFaults({ monotonic: (options.clock ?? clock).monotonic, logger, degrade: (...why) => loader.degrade(...why) });
  const hooks = createHookBus(logger.child("hooks"), {
    monotonic: (options.clock ?? clock).monotonic,
    timeoutMs: (plugin, hook) => operatorLimitMs(config(), plugin, hook),
    onFailure: faults.failed,
    onMoved: () => health.invalidate(),
  });
  const activation = createActivation();
  const contributions = createContributions(activation);
  const methods = createMethodRegistry({ hooks, logger, activation });
  const routes = createRouteTable();
  const fanout = createFanout();
  const presence = createPresence({ version: options.version, bootId: plan.bootId, now: clock.now, isLoopback });
  const stateVersion = () => ({ presence: presence.version(), health: health.version() });
  const health = createHealth({
    collect: async (deep) => [...(await hooks.run("health.collect", { deep })), jobs.look().part, ...faults.parts()],
    now: clock.now,
    base: () => ({
      uptimeMs: uptimeMs(),
      version: options.version,
      phase,
      plugins: toPluginHealth(loader.records(), hooks.quarantined()),
      secrets: secretHealth(reloader.current().secretState),
      configReload: { ...reloader.status(), restart: restarts.pending() },
    }),
    onChange: () => void health.text().then((text) => fanout.emit("health", JSON.parse(text), { stateVersion: stateVersion() })),
    onFault: (error) => logger.warn("health could not be collected", { error }),
  });

  const jobs = createJobs({ logger, now: clock.monotonic });
  const masked = new WeakMap<SvcConfig, SvcConfig>();
  const mask = (plain: SvcConfig) => {
    const known = masked.get(plain) ?? maskConfig(plain, loader.secretPaths());
    masked.set(plain, known);
    return known;
  };
  const restarts = createRestartDeferral({
    holds,
    limitMs: () => config().gateway.reload.deferralTimeoutMs,
    restartedAt: options.restartedAt,
    logger,
    onDue: (reason) => options.onRestartDue?.(reason),
    onChange: health.refresh,
  });
  const requestRestart = (reason: string) => restarts.request(reason, reason);
  const authenticator = createAuthenticator(
    plan.auth,
    createFailureLimiter(() => config().gateway.auth.rateLimit, clock.monotonic, addressBucket),
    (given, transport, { address }) =>
      hooks.isUsed("auth.identify") ? hooks.run("auth.identify", { credentials: { ...given }, transport, remote: address }) : undefined,
  );
  const addedPaths: string[] = [];
  const whereToLook = (now: SvcConfig): DiscoveryRequest => ({
    config: { ...now, plugins: { ...now.plugins, load: { paths: [...now.plugins.load.paths, ...addedPaths] } } },
    stateDir: paths.stateDir,
    configDir: dirname(paths.configPath),
    workspace: resolveAgents(now, paths.stateDir).find((a) => a.isDefault)?.workspace ?? join(paths.stateDir, "workspace"),
  });
  const found = await discoverPlugins(whereToLook(plan.config));
  const present = found.flatMap(({ manifest }) => manifest ?? []);
  requireKnownChannels({ ...plan.loaded, config: plan.config }, present);
  for (const { path, message } of unknownIdWarnings(plan.config, knownIdsOf(present))) logger.warn(`config: ${path}: ${message}`);
  const candidates = options.only ? withRequirements(found, options.only) : found;
  const reloader = createReloader({
    initial: { ...plan.loaded, config: plan.config },
    signal: leaving.signal,
    env: options.env,
    flags: options.flags ?? {},
    hooks,
    contributions,
    loader: () => loader,
    manifest: (id) => loader.find(id)?.candidate.manifest,
    manifests: () => [...present, ...manifests()],
    authenticator: () => authenticator,
    mask,
    logger,
    onSettled({ status }, isForeign) {
      loader.syncWatch();
      health.refresh();
      const { path, hash } = reloader.current();
      if (isForeign && status === "applied") fanout.emit("config.changed", { path, hash, ts: clock.now() });
    },
    requestRestart: (reason) => (reason ? restarts.request("config", reason) : restarts.withdraw("config")),
  });
  const config = () => reloader.current().config;
  jobs.add("configPoll", reloader.poll);

  const pluginHost: Host = {
    hooks,
    contributions,
    methods,
    routes,
    activation,
    emit: fanout.emit,
    config,
    snapshot: () => mask(config()),
    secret: (path) => secretAt(reloader.current(), path),
    logger: logger.child("plugin"),
    onFault: faults.failed,
    clock: options.clock ?? clock,
    fetch: options.fetch,
    stateDir: paths.stateDir,
  };
  const loader = createLoader(candidates, {
    ...pluginHost,
    createInstance: (identity, onDiagnostic) => createInstance(identity, pluginHost, onDiagnostic),
    code: { importModule: (file) => importModule(file, paths.stateDir), isCompiled: isCompiledBundle },
    discover: () => discoverPlugins(whereToLook(config())),
    discoverOne: (id) => discoverOne(id, whereToLook(config())),
    stragglerMs: options.stragglerMs,
    retryMs: options.retryMs,
    onState: (record, from) => {
      health.invalidate();
      fanout.emit("plugins.changed", { generation: loader.generation(), pluginId: record.id, state: record.state });
      if (hooks.isUsed("plugin.state")) {
        void hooks.run("plugin.state", { id: record.id, from, to: record.state, ...(record.reason ? { error: record.reason } : {}) });
      }
    },
  });
  contributions.add("service", {
    id: "gateway@1",
    owner: "kernel",
    order: -1,
    value: {
      info: () => ({
        version: options.version,
        bootId: plan.bootId,
        stateDir: paths.stateDir,
        configPath: paths.configPath,
        host: listeners?.host ?? "",
        port: listeners?.port ?? 0,
        startedAt,
        phase,
      }),
      invalidateHealth: health.invalidate,
      requestRestart,
      hold: holds.hold,
    } satisfies Services["gateway@1"],
  });
  registerKernelMethods(methods, {
    health,
    presence,
    hooks,
    version: options.version,
    requestRestart,
  });
  const manifests = () => loader.records().flatMap(({ id }) => loader.find(id)?.candidate.manifest ?? []);
  registerConfigMethods(methods, contributions, {
    host: createConfigHost({ path: paths.configPath, env: options.env, flags: options.flags ?? {}, manifests }),
    reloader,
    manifests,
    emit: fanout.emit,
    hold: holds.hold,
    version: options.version,
    now: clock.now,
    logger: logger.child("config"),
  });
  registerPluginMethods(methods, {
    loader,
    hooks,
    contributions,
    async addPath(path) {
      const candidate = await inspectPluginFolder(path);
      if (!candidate.problem && !addedPaths.includes(path)) addedPaths.push(path);
      return candidate;
    },
    useOf: activation.useOf,
  });

  const originAllowed = (origin: string, req: Parameters<typeof remoteOf>[0]) =>
    isOriginAllowed({
      origin,
      host: req.headers.host,
      address: remoteOf(req).address,
      allowed: allowedOrigins(config(), plan.bind, listeners?.port ?? plan.port),
    });
  // Without a secret the `Host` is all that tells a page on a rebound name from a local caller (`security.md` B-03).
  const isHostKnown = (req: Parameters<typeof remoteOf>[0]) => plan.auth.mode !== "none" || isKnownHost(req.headers.host);
  const hello = createHello({ version: options.version, paths, plan, config, uptimeMs, methods, presence, health, hooks, stateVersion });
  registerSecretsMethods(methods, reloader);
  const { basePath } = plan.config.gateway.controlUi;
  const sockets = createSockets({
    paths: new Set(["/", basePath, `${basePath.replace(/\/$/, "")}/`]),
    methods,
    fanout,
    logger,
    phase: () => phase,
    handshakeTimeoutMs: handshakeTimeout(options.env),
    isHostKnown,
    async admit(params, req) {
      const { params: connect, revoked, ...info } = await admitClient(params, req, { authenticator, isOriginAllowed: originAllowed });
      const gate = await hooks.run("ws.connect", { client: info, scopes: info.scopes });
      if (gate.block) throw new SvcError("blocked", { reason: gate.reason, plugin: gate.plugin });
      presence.joined(info, connect);
      return { info, hello: await hello(info), revoked };
    },
    joined: () => announcePresence(),
    left(info, code, reason) {
      if (presence.left(info)) announcePresence();
      if (hooks.isUsed("ws.disconnect")) void hooks.run("ws.disconnect", { client: info, code, reason });
    },
  });
  let announced = presence.version();
  const announcePresence = () => {
    if (announced === presence.version()) return;
    announced = presence.version();
    fanout.emit("presence", { presence: presence.list() }, { stateVersion: stateVersion() });
  };

  if (options.listen ?? true) {
    listeners = await openListeners({
      plan: plan.bind,
      port: plan.port,
      handler: createHttpHandler({
        routes,
        activation,
        authenticator,
        isOriginAllowed: originAllowed,
        isHostKnown,
        probe: {
          phase: () => phase,
          detail: () => ({ failing: health.failing(), uptimeMs: uptimeMs(), eventLoop: health.eventLoop() }),
        },
        hooks,
        logger,
        hsts: () => config().gateway.http.securityHeaders.strictTransportSecurity || undefined,
        stopSignal: stopped.signal,
      }),
      onUpgrade: sockets.upgrade as never,
    });
    await lock.update({ port: listeners.port });
    if (plan.bindMode === "tailnet" && plan.bind.loopbackOnly)
      logger.warn("bind tailnet: no tailnet address here, so only loopback listens");
    logger.info(`listening on ws://${listeners.host}:${listeners.port}`, { bind: plan.bindMode, auth: plan.auth.mode });
  }

  const gap = createGapDetector(clock, limits.tickIntervalMs);
  jobs.every("tick", limits.tickIntervalMs, () => {
    const gapMs = gap();
    if (gapMs !== undefined) {
      logger.warn(`the process stood still for ${Math.round(gapMs / 1000)} s; refreshing what is outside`);
      health.refresh();
      void hooks.run("gateway.resumed", { gapMs });
    }
    presence.tick();
    fanout.emit("tick", { ts: clock.now() });
    jobs.look();
  });
  jobs.every("health", limits.healthCacheMs, health.refresh);

  const ready = (async () => {
    phase = "plugins";
    reloader.adopt(await completeSecrets(plan, { env: options.env, signal: leaving.signal }));
    if (phase !== "plugins") return;
    await loader.loadAll();
    if (phase !== "plugins") return;
    logger.info(loader.summary());
    const failed = failedRequired(config().plugins.entries, loader.records());
    if (failed) throw new SvcError("required-plugin-failed", failed);
    for (const issue of await hooks.run("config.validate", { config: mask(config()), paths: [] }))
      logger.warn(`config: ${issue.path}: ${issue.message}`);
    if (phase !== "plugins") return;
    phase = "ready";
    reloader.start();
    health.invalidate();
    if (listeners) {
      const info = { pid: process.pid, port: listeners.port, host: listeners.host, version: options.version, startedAt };
      await writeFileAtomic(runtimeInfoPath(paths.stateDir), JSON.stringify(info));
    }
    if (listeners && envValue(options.env, "SVC_CONFIG_READONLY") !== "1") {
      await saveLastGood(reloader.current()).catch((error: unknown) => logger.warn("the last-good config was not kept", { error }));
    }
    logger.info("ready", { ms: uptimeMs() });
    await hooks.run("gateway.ready", { uptimeMs: uptimeMs() });
  })().catch(async (error: unknown) => {
    await recordRefusal(paths.stateDir, error);
    throw error;
  });
  ready.catch(() => undefined);

  /** `shutdown` event, drain, plugins, close frames, port, lock. */
  const stop = async (reason: string, restart: boolean) => {
    phase = "draining";
    leaving.abort();
    const deadlineMs = config().gateway.shutdown.drainMs;
    restarts.dispose();
    await reloader.dispose();
    fanout.emit("shutdown", { reason, ...(restart ? { restartExpectedMs: RESTART_EXPECTED_MS } : {}) });
    const begun = uptimeMs();
    await withLimit(hooks.run("gateway.stopping", { reason, deadlineMs }), deadlineMs, () => undefined);
    await holds.whenFree(Math.max(0, deadlineMs - (uptimeMs() - begun)));
    await loader.stopAll();
    stopped.abort(new SvcError("draining"));
    jobs.dispose();
    const closing = listeners?.close();
    const [code, why] = restart ? ([1012, "gateway restarting"] as const) : ([1001, "gateway stopping"] as const);
    await sockets.closeAll({ code, reason: why, graceMs: 2_000 });
    await closing;
    health.dispose();
    phase = "stopped";
    await removeRuntimeFiles(paths.stateDir);
    takeEnvBack?.();
    await lock.release();
    logger.info("stopped", { reason });
  };
  let stopping: Promise<void> | undefined;

  return {
    host: listeners?.host ?? "",
    port: listeners?.port ?? 0,
    portSource: plan.portSource,
    plan,
    ready,
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
    tap: (hook, fn) => hooks.tap(hook, { plugin: "kernel", order: -1, fn: fn as never }),
    mayRestart: () => config().commands.restart !== false,
    requestRestart,
    reload: (reason) => ready.then(() => reloader.reload(reason)),
    close: (reason, { restart = false } = {}) => (stopping ??= stop(reason, restart)),
  };
}

/** What clients are told to expect between the shutdown of a restart and the next hello. */
const RESTART_EXPECTED_MS = 1_500;

function handshakeTimeout(env: Env): number {
  const ms = Number(envValue(env, "SVC_HANDSHAKE_TIMEOUT_MS"));
  return Number.isInteger(ms) && ms >= 1_000 && ms <= 120_000 ? ms : limits.handshakeTimeoutMs;
}
