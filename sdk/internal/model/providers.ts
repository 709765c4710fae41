import { messageOf } from "../../errors.ts";
import { readEnv } from "../../read-env.ts";
import type { Disposable } from "../../types/common.ts";
import type { PluginContext } from "../../types/context.ts";
import type { ModelProvider } from "../../types/model.ts";
import { withSecrets } from "./secrets.ts";
import { apiOf, type ModelApi, type ModelVendor, modelParamsOf, type ProviderSettings, resolveProviders } from "./settings.ts";
import { createVendorFetch } from "./vendor-fetch.ts";
import type { VendorProviderDeps } from "./vendor-provider.ts";

/** The first answers after a start come before code of model calls is loaded. */
const PRELOAD_MS = 500;
/** Between two parts everything else of the gateway has its turn. */
const PAUSE_MS = 20;

/** Loads a module, or a part of one. */
type LoadingStep = () => unknown;

/** Parts that a plugin for one wire format brings. */
export interface ModelProvidersSpec<V extends ModelVendor> {
  api: ModelApi;
  /** Vendors that can be spoken to in it, in the order in which keys in the environment are tried. */
  vendors: readonly V[];
  create(settings: ProviderSettings<V>, deps: VendorProviderDeps): ModelProvider;
  /** Modules of a model call, the packages themselves last: each is loaded in a step of its own once a provider may be called. */
  loads: readonly LoadingStep[];
}

/** Providers of one wire format, made from `models.providers` and from keys in the environment. */
export interface ModelProviders {
  update(): void;
  /** Entries of the config that cannot be used, and why. */
  skipped(): ReadonlyArray<{ id: string; reason: string }>;
}

interface Registered {
  key: string;
  registration: Disposable;
  isUsable: boolean;
}

/**
 * Registers the providers of one wire format and follows the config: a change replaces those whose settings differ and leaves the others as they are.
 * Everything ends with the plugin.
 */
export function registerModelProviders<V extends ModelVendor>(ctx: PluginContext, spec: ModelProvidersSpec<V>): ModelProviders {
  const providers = createProviders(ctx, spec);
  providers.update();
  // Secrets of the new config are available once it is in force, so there is nothing to prepare.
  ctx.onReload({
    prefixes: ["models", "agents.defaults.models"],
    prepare: async () => ({ apply: () => providers.update(), discard: () => undefined }),
  });
  return providers;
}

function createProviders<V extends ModelVendor>(ctx: PluginContext, spec: ModelProvidersSpec<V>): ModelProviders {
  const registered = new Map<string, Registered>();
  const preload = createPreload(ctx, spec.loads);
  ctx.onDispose(() => preload.dispose());
  const gateway = ctx.service("gateway@1");
  // A gateway that listens on no port is a command that borrowed this plugin: it ends before it would ask a model.
  const prepareCalls = () => {
    const { phase, port } = gateway.info();
    if (phase === "ready" && port !== 0 && [...registered.values()].some(({ isUsable }) => isUsable)) preload.begin();
  };
  ctx.on("gateway.ready", prepareCalls);
  let skipped: ReadonlyArray<{ id: string; reason: string }> = [];

  const drop = (id: string) => {
    const old = registered.get(id);
    if (!old) return;
    registered.delete(id);
    // A run that began with it ends with it: connections are the plugin's.
    void old.registration.dispose();
  };

  const add = (settings: ProviderSettings<V>, key: string) => {
    const fetch = createVendorFetch(ctx.request, settings.timeoutMs);
    try {
      const registration = ctx.registerModelProvider(spec.create(settings, { fetch, clock: ctx.clock, logger: ctx.logger }));
      registered.set(settings.id, { key, registration, isUsable: settings.unavailable === undefined });
    } catch (error) {
      // One bad name must not take the other vendors down with it.
      ctx.logger.warn(`models.providers.${settings.id}: not registered: ${messageOf(error)}`);
    }
  };

  return {
    update() {
      const { api, vendors } = spec;
      const { entries, unavailable } = withSecrets(ctx.snapshot().models.providers, { api, secret: ctx.secret });
      const resolved = resolveProviders(entries, { api, vendors, env: (name) => readEnv(ctx.env, name), unavailable });
      const { providers } = resolved;
      if (JSON.stringify(resolved.skipped) !== JSON.stringify(skipped))
        for (const { id, reason } of resolved.skipped) ctx.logger.warn(`models.providers.${id}: ${reason}`);
      skipped = resolved.skipped;
      for (const { id, keyEnv } of vendors)
        if (keyEnv && apiOf(id, {}) === api && !providers.some((one) => one.id === id))
          ctx.logger.debug(`vendor "${id}" is skipped: ${keyEnv[0]} is not set`);
      for (const id of [...registered.keys()]) if (!providers.some((settings) => settings.id === id)) drop(id);
      const { models } = ctx.snapshot().agents.defaults;
      for (const provider of providers) {
        const settings = { ...provider, modelParams: modelParamsOf(models, provider.id) };
        const key = JSON.stringify(settings);
        if (registered.get(settings.id)?.key === key) continue;
        drop(settings.id);
        add(settings, key);
      }
      prepareCalls();
    },
    skipped: () => skipped,
  };
}

/**
 * Loads the code of model calls before the first of them needs it. `begin`, which may be called again, says that a provider may be called from now on.
 * @param loads in this order, after the client of the plugin's connections
 */
function createPreload(ctx: PluginContext, loads: readonly LoadingStep[]): Disposable & { begin(): void } {
  const state = { begun: false, ended: false };
  const run = ([step, ...rest]: readonly LoadingStep[]) => {
    if (!step || state.ended) return;
    Promise.resolve()
      .then(step)
      // A call loads what it needs by itself, and says then what is wrong.
      .catch((error: unknown) => ctx.logger.debug("a part of the model client could not be preloaded", { error: String(error) }))
      .finally(() => state.ended || ctx.timers.setTimeout(() => run(rest), PAUSE_MS));
  };
  const client: LoadingStep[] = [
    // A request that has ended before it begins loads the client of the plugin's connections, a file a turn, and opens none.
    () => ctx.request("http://rehearsal.invalid/", { signal: AbortSignal.abort() }).catch(() => undefined),
    () => globalThis.Response,
  ];
  return {
    begin() {
      if (state.begun) return;
      state.begun = true;
      ctx.timers.setTimeout(() => run([...client, ...loads]), PRELOAD_MS);
    },
    dispose() {
      state.ended = true;
    },
  };
}
