import { type Disposable, messageOf, type PluginContext, readEnv } from "svc/sdk";
import { createPreload } from "./preload.ts";
import { createProvider } from "./provider.ts";
import { withSecrets } from "./secrets.ts";
import { modelParamsOf, type ProviderSettings, resolveProviders } from "./settings.ts";
import { createVendorFetch } from "./vendor-fetch.ts";
import { vendors } from "./vendors.ts";

interface Registered {
  key: string;
  registration: Disposable;
  isUsable: boolean;
}

/** Providers made from `models.providers` and from keys in the environment. */
export interface Providers {
  update(): void;
  /** Entries of the config that nothing can be done with, and why. */
  skipped(): ReadonlyArray<{ id: string; reason: string }>;
  /** Ids of the providers there are. */
  ids(): string[];
  close(): void;
}

/** The providers of the config in force: a change replaces those whose settings differ and leaves the others as they are. */
export function createProviders(ctx: PluginContext): Providers {
  const registered = new Map<string, Registered>();
  const preload = createPreload(ctx);
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

  const add = (settings: ProviderSettings, key: string) => {
    const fetch = createVendorFetch(ctx.request, settings.timeoutMs);
    try {
      const registration = ctx.registerModelProvider(createProvider(settings, { fetch, clock: ctx.clock, logger: ctx.logger }));
      registered.set(settings.id, { key, registration, isUsable: settings.unavailable === undefined });
    } catch (error) {
      // One bad name must not take the other vendors down with it.
      ctx.logger.warn(`models.providers.${settings.id}: not registered: ${messageOf(error)}`);
    }
  };

  return {
    update() {
      const { entries, unavailable } = withSecrets(ctx.snapshot().models.providers, ctx.secret);
      const resolved = resolveProviders(entries, (name) => readEnv(ctx.env, name), unavailable);
      const { providers } = resolved;
      if (JSON.stringify(resolved.skipped) !== JSON.stringify(skipped))
        for (const { id, reason } of resolved.skipped) ctx.logger.warn(`models.providers.${id}: ${reason}`);
      skipped = resolved.skipped;
      for (const { id, keyEnv } of vendors)
        if (keyEnv && !providers.some((one) => one.id === id)) ctx.logger.debug(`vendor "${id}" is skipped: ${keyEnv} is not set`);
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
    ids: () => [...registered.keys()],
    close: () => void preload.dispose(),
  };
}
