import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Env, Logger } from "../../sdk/types/common.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { ReloadParticipant } from "../../sdk/types/reload.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { resolveAuth } from "../auth/resolve-auth.ts";
import { channelIssues } from "../config/known-ids.ts";
import { loadConfig } from "../config/load.ts";
import type { LoadedConfig } from "../config/loaded.ts";
import { reloadClassOf } from "../config/reload-class.ts";
import type { NamedParticipant } from "../config/reload-pass.ts";
import { createReloader as createPasses, type Reloader, type ReloaderOptions } from "../config/reloader.ts";
import { loadSecrets } from "../config/trees.ts";
import { unservedSummary } from "../config/unserved.ts";
import { watchFiles } from "../config/watch-files.ts";
import type { HookBus } from "../hooks/bus.ts";
import { running } from "../hooks/running.ts";
import type { Contributions } from "../loader/contributions.ts";
import type { Loader } from "../loader/loader.ts";
import type { StartFlags } from "../process/start-flags.ts";
import { missingStartSecret } from "../secrets/start.ts";

export interface ReloadHost extends Pick<ReloaderOptions, "initial" | "onSettled" | "requestRestart"> {
  env: Env;
  /** The environment as files say now; default: `env`. */
  readEnv?: (() => Promise<Env>) | undefined;
  /** Ends programs that are asked for secrets: the gateway stops. */
  signal: AbortSignal;
  flags: StartFlags;
  hooks: HookBus;
  contributions: Contributions;
  loader(): Pick<Loader, "applyEntries">;
  manifest(pluginId: string): Manifest | undefined;
  /** Manifests of all discovered plugins, whatever their state. */
  manifests(): Manifest[];
  authenticator(): Authenticator;
  mask(config: SvcConfig): SvcConfig;
  logger: Logger & { addSecret(value: string): void };
}

/** The config snapshot of a gateway and the way changes get into it. Nothing is followed before `start`. */
export function createReloader(host: ReloadHost): Reloader {
  const { flags, hooks, logger, mask, signal } = host;
  let warned = warningsOf(host.initial);
  for (const text of warned) logger.warn(`config: ${text}`);
  const authOf = (loaded: { config?: SvcConfig; env: Env }) => resolveAuth({ config: loaded.config, env: loaded.env, flags });
  const pass: ReloaderOptions["pass"] = {
    classes: (prev, next) => ({
      classOf: (path) => reloadClassOf(path).reload,
      manifestReload: (id) => host.manifest(id)?.reload,
      authModeChanged: authOf(prev).mode !== authOf(next).mode,
    }),
    refusals(next) {
      const unknown = channelIssues(next.config, { manifests: host.manifests(), file: next.path, locate: next.locate });
      if (unknown.length > 0) return unknown.map(({ path, message }) => ({ path, message }));
      const missing = missingStartSecret(next, flags);
      if (missing) return [{ path: missing.path, message: missing.reason }];
      const { mode, secret } = authOf(next);
      if (mode === "none" || mode === "trusted-proxy" || secret !== undefined || host.authenticator().source === "runtime") return [];
      return [{ path: `gateway.auth.${mode}`, message: "it is gone, and callers could not be told apart; set another one" }];
    },
    participants: () =>
      [...host.contributions.view<ReloadParticipant>("reload")].map(
        ({ owner, value }): NamedParticipant => ({ plugin: owner, participant: value }),
      ),
    mask,
    validate: (config, paths) => hooks.run("config.validate", { config: mask(config), paths }),
    raise: (event) => hooks.run("reload.plan", event),
    attribute: (plugin, run) => running.run({ plugin, what: "config reload" }, run),
    changed: (prev, next, paths) => hooks.run("config.changed", { prev: mask(prev), next: mask(next), paths }),
    applyEntries: (ids) => host.loader().applyEntries(ids),
  };
  const reloader = createPasses({
    initial: host.initial,
    onSettled: host.onSettled,
    requestRestart: host.requestRestart,
    pass,
    logger,
    now: Date.now,
    async load(active, { secretsOnly }) {
      const from = { env: (await host.readEnv?.()) ?? host.env, previous: active, signal };
      return secretsOnly ? loadSecrets(active, from) : loadConfig(active.path, from);
    },
    onSwap(loaded) {
      for (const secret of loaded.secrets.values()) logger.addSecret(secret);
      const warnings = warningsOf(loaded);
      for (const text of warnings) if (!warned.has(text)) logger.warn(`config: ${text}`);
      warned = warnings;
      const { auth, trustedProxies } = loaded.config.gateway;
      host.authenticator().rotate(authOf(loaded), JSON.stringify([auth.trustedProxy, trustedProxies]));
    },
    watch: (onChange) =>
      watchFiles({
        debounceMs: () => reloader.current().config.gateway.reload.debounceMs,
        onChange,
        onWarning: (message) => logger.warn(message),
      }),
  });
  return reloader;
}

/** Log lines about the config in force, each text once. */
function warningsOf({ warnings, unserved }: LoadedConfig): Set<string> {
  const summary = unservedSummary(unserved);
  return new Set([...warnings.map(({ path, message }) => `${path}: ${message}`), ...(summary === undefined ? [] : [summary])]);
}
