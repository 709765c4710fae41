import { dirname, join } from "node:path";
import { resolveAgents } from "../../sdk/agents.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { PluginRecord, PluginState } from "../../sdk/types/plugin-record.ts";
import type { ReloadParticipant } from "../../sdk/types/reload.ts";
import type { Services } from "../../sdk/types/services.ts";
import { createGatewayIdentity } from "../auth/gateway-identity.ts";
import { createConfigHost } from "../config/config-host.ts";
import { knownIdsOf, requireKnownChannels, unknownIdWarnings } from "../config/known-ids.ts";
import { openReloader } from "../config/open-reloader.ts";
import { createInstance } from "../loader/context.ts";
import { type DiscoveryRequest, discoverOne, discoverPlugins, inspectPluginFolder } from "../loader/discovery.ts";
import { importModule, isEvaluatedOnce } from "../loader/import.ts";
import { installedPlugins } from "../loader/installed-plugins.ts";
import type { Host } from "../loader/instance.ts";
import { Loader } from "../loader/loader.ts";
import { withRequirements } from "../loader/plugin-order.ts";
import { updateReadiness, whyAbsent } from "../loader/plugins-down.ts";
import { bundledMethodRows, eventRowsOf, methodRowOf } from "../loader/protocol-document.ts";
import { reservedBy } from "../loader/reserved.ts";
import { maskConfig, secretAt } from "../loader/secret-paths.ts";
import { blameText, liftQuarantine, readQuarantine, settleOpenBlock } from "../operations/quarantine.ts";
import { registerConfigMethods } from "../port/methods/config.ts";
import { registerKernelMethods } from "../port/methods/gateway.ts";
import { registerPluginMethods } from "../port/methods/plugins.ts";
import { registerSecretsMethods } from "../port/methods/secrets.ts";
import type { Core } from "./core.ts";

/**
 * Looks for plugins, and makes the loader and the reloader that will run them; nothing of theirs runs yet.
 * @returns the config as plugins see it: secrets masked
 */
export async function openPlugins(core: Core): Promise<(plain: SvcConfig) => SvcConfig> {
  const { options, plan, logger } = core;
  const places = createPlaces(core);
  await reportOpenBlock(core);
  const found = await discoverPlugins(places.request(plan.config));
  const present = found.flatMap(({ manifest }) => manifest ?? []);
  requireKnownChannels({ ...plan.loaded, config: plan.config }, present);
  for (const { path, message } of unknownIdWarnings(plan.config, knownIdsOf(present))) logger.warn(`config: ${path}: ${message}`);

  const mask = createMask(() => core.lazy().loader.secretPaths());
  const host = pluginHost(core, mask);
  const loader: Loader = new Loader(options.only ? withRequirements(found, options.only) : found, {
    ...host,
    createInstance: (identity, onDiagnostic) => createInstance(identity, host, onDiagnostic),
    code: {
      importModule: (file) => importModule(file, options.paths.stateDir, { importBundled: options.importBundled }),
      isCompiled: (file) => isEvaluatedOnce(file, { importBundled: options.importBundled }),
    },
    discover: () => discoverPlugins(places.request(core.config())),
    discoverOne: (id) => discoverOne(id, places.request(core.config())),
    stragglerMs: options.stragglerMs,
    retryMs: options.retryMs,
    onState: (record, from) => announceState(core, record, from),
  });
  // A gateway with some plugins only knows the methods of the others all the same.
  const candidates = () => (options.only ? found : loader.candidates());
  // Rows as of the start: a plugin that replaces a bundled one later lists none of its methods, but still answers them.
  const bundledRows = bundledMethodRows(found);
  const methodRow = (name: string) => bundledRows.get(name) ?? methodRowOf(candidates(), name);
  core.bindLazy({ loader, methodRow, eventRows: eventRowsOf(found), reloader: reloaderOf(core, { loader, mask, present }) });
  registerMethods(core, places);
  providePlugins(core, places);
  return mask;
}

/** The process before this one may have been killed while a plugin blocked it. */
async function reportOpenBlock({ options, logger }: Core): Promise<void> {
  const open = await settleOpenBlock(options.paths.stateDir);
  if (!open) return;
  const { plugin, ms, what, pid, stack } = open;
  const whose = plugin === undefined ? "by code that could not be identified" : `by plugin "${plugin}" (${what})`;
  const message = `the gateway before this one (pid ${pid}) ended while its event loop was blocked for ${Math.round(ms / 1_000)} s ${whose}`;
  logger.warn(message, { stack });
}

/** Folders that are searched for plugins: those of the config, and those added while the gateway runs. */
function createPlaces({ options, safeMode }: Core) {
  const { configPath, stateDir } = options.paths;
  const added = new Map<string, string>();
  return {
    add: (path: string, id: string) => void added.set(path, id),
    drop(id: string) {
      for (const [path, of] of added) if (of === id) added.delete(path);
    },
    request: (config: SvcConfig): DiscoveryRequest => ({
      config: { ...config, plugins: { ...config.plugins, load: { paths: [...config.plugins.load.paths, ...added.keys()] } } },
      stateDir,
      configDir: dirname(configPath),
      isSafeMode: safeMode.isOn(),
      reuse: options.importBundled !== undefined,
      workspace: resolveAgents(config, stateDir).find((a) => a.isDefault)?.workspace ?? join(stateDir, "workspace"),
    }),
  };
}

/** The config as plugins see it, made once per snapshot. */
function createMask(secretPaths: () => string[]) {
  const masked = new WeakMap<SvcConfig, SvcConfig>();
  return (plain: SvcConfig): SvcConfig => {
    const known = masked.get(plain) ?? maskConfig(plain, secretPaths());
    masked.set(plain, known);
    return known;
  };
}

function pluginHost(core: Core, mask: (plain: SvcConfig) => SvcConfig): Host {
  const { hooks, contributions, methods, routes, activation, metrics, tracer, options, config, logger, plan } = core;
  return {
    hooks,
    metrics,
    tracer,
    contributions,
    methods,
    routes,
    activation,
    config,
    reservedBy: (kind, isSame) => reservedBy(foundBy(core.lazy().loader), kind, isSame),
    whyAbsent: (service) => whyAbsent(core.lazy().loader, service),
    emit: core.fanout.emit,
    isProtocolEvent: (name) => core.lazy().eventRows.has(name),
    snapshot: () => mask(config()),
    secret: (path) => secretAt(core.lazy().reloader.current(), path),
    logger: logger.child("plugin"),
    onFault: core.faults.failed,
    clock: options.clock ?? core.clock,
    fetch: options.fetch,
    request: options.request,
    stateDir: options.paths.stateDir,
    gatewayEnv: () => ({ env: plan.loaded.env, unresolved: core.lazy().reloader.current().unresolved }),
  };
}

function announceState(core: Core, record: PluginRecord, from: PluginState): void {
  const { health, fanout, hooks, lazy: late } = core;
  health.invalidate();
  updateReadiness(core.notReady, late().loader, record);
  // A stop ends every plugin: clients are told of it once, by the event shutdown.
  if (!core.leaving.signal.aborted)
    fanout.emit("plugins.changed", { generation: late().loader.generation(), pluginId: record.id, state: record.state });
  if (record.origin === "bundled" && record.state === "active") void markBlamed(core, record.id);
  if (!hooks.isUsed("plugin.state")) return;
  void hooks.run("plugin.state", { id: record.id, from, to: record.state, ...(record.reason ? { error: record.reason } : {}) });
}

/** A bundled plugin that ended a gateway is not kept out, since others may need it; everybody sees what it did. */
async function markBlamed({ options, lazy: late }: Core, id: string): Promise<void> {
  const blame = (await readQuarantine(options.paths.stateDir)).get(id);
  if (blame) late().loader.degrade(id, "blocked-event-loop", blameText(blame));
}

function reloaderOf(core: Core, own: { loader: Loader; mask(plain: SvcConfig): SvcConfig; present: readonly Manifest[] }) {
  const { options, plan, hooks, contributions, logger, restarts, fanout } = core;
  const { loader, mask } = own;
  const reloader = openReloader({
    initial: { ...plan.loaded, config: plan.config },
    signal: core.leaving.signal,
    env: options.env,
    readEnv: options.readEnv,
    flags: options.flags ?? {},
    hooks,
    plugins: {
      participants: () =>
        [...contributions.view<ReloadParticipant>("reload")].map(({ owner, value }) => ({ plugin: owner, participant: value })),
      manifest: (id) => loader.find(id)?.candidate.manifest,
      manifests: () => [...own.present, ...manifestsOf(loader)],
      applyEntries: (ids) => loader.applyEntries(ids),
    },
    authenticator: () => core.authenticator,
    mask,
    logger,
    onSettled({ status }, isForeign) {
      loader.syncWatch();
      core.health.refresh();
      const { path, hash } = reloader.current();
      if (isForeign && status === "applied") fanout.emit("config.changed", { path, hash, ts: core.clock.now() });
    },
    requestRestart: (reason) => (reason ? restarts.request("config", reason) : restarts.withdraw("config")),
  });
  core.jobs.add("configPoll", reloader.poll);
  return reloader;
}

function foundBy(loader: Loader) {
  return loader.records().flatMap(({ id }) => loader.find(id) ?? []);
}

function manifestsOf(loader: Loader): Manifest[] {
  return foundBy(loader).flatMap(({ candidate }) => candidate.manifest ?? []);
}

/** Service for whoever installs plugins in a running gateway. */
function providePlugins({ options, contributions, lazy: late }: Core, places: ReturnType<typeof createPlaces>): void {
  const value: Services["plugins@1"] = {
    installed: installedPlugins(options.paths.stateDir),
    inspect: inspectPluginFolder,
    isBundled: (id) =>
      late()
        .loader.candidates()
        .some((one) => one.id === id && one.origin === "bundled"),
    takeUp(id) {
      places.drop(id);
      return late().loader.reload(id);
    },
    withFileLock: async (lock, work, how) => (await import("../process/file-lock.ts")).withFileLock(lock, work, how),
  };
  contributions.add("service", { id: "plugins@1", owner: "kernel", order: -1, value });
}

/** Methods that the gateway answers itself, also with zero plugins. */
function registerMethods(core: Core, places: ReturnType<typeof createPlaces>): void {
  const { options, methods, contributions, hooks, health, presence, restarts, fanout, clock, activation, logger } = core;
  const { loader, reloader } = core.lazy();
  const manifests = () => manifestsOf(loader);
  // A plugin adds and removes panels while its state stays what it is.
  contributions.view("uiPanel").watch(() => {
    if (!core.leaving.signal.aborted) fanout.emit("plugins.changed", { generation: loader.generation() });
  });
  registerKernelMethods(methods, {
    env: () => core.plan.loaded.env,
    health,
    presence,
    hooks,
    version: options.version,
    requestRestart: (reason, when) => restarts.request(reason, reason, when),
    checkRestart: core.checkRestart,
    safeMode: core.safeMode,
    identity: createGatewayIdentity(core.store),
  });
  registerConfigMethods(methods, contributions, {
    host: createConfigHost({
      path: options.paths.configPath,
      stateDir: options.paths.stateDir,
      env: options.env,
      readEnv: options.readEnv,
      flags: options.flags ?? {},
      manifests,
      modelProviders: () => [...contributions.view("modelProvider")].map(({ id }) => id),
    }),
    reloader,
    manifests,
    emit: fanout.emit,
    hold: core.holds.hold,
    version: options.version,
    now: clock.now,
    logger: logger.child("config"),
  });
  registerSecretsMethods(methods, reloader, manifests);
  registerPluginMethods(methods, {
    loader,
    hooks,
    contributions,
    mayWriteConfig: options.env.SVC_CONFIG_READONLY !== "1",
    dropPaths: places.drop,
    async addPath(path) {
      const candidate = await inspectPluginFolder(path);
      if (!candidate.problem) places.add(path, candidate.id);
      return candidate;
    },
    useOf: activation.useOf,
    async lift(id) {
      if (await liftQuarantine(options.paths.stateDir, id)) loader.restore(id, "blocked-event-loop");
    },
  });
}
