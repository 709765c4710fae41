import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Env, Logger } from "../../sdk/types/common.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { PluginReload } from "../../sdk/types/plugin-record.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { isTailnetAllowed, resolveAuth } from "../auth/resolve-auth.ts";
import type { HookBus } from "../hooks/bus.ts";
import { running } from "../hooks/running.ts";
import type { StartFlags } from "../process/start-flags.ts";
import { missingStartSecret } from "../secrets/start.ts";
import { channelIssues } from "./known-ids.ts";
import { loadConfig, loadSecrets } from "./load.ts";
import type { LoadedConfig } from "./loaded.ts";
import { reloadClassOf } from "./reload-class.ts";
import type { NamedParticipant, PassDeps } from "./reload-pass.ts";
import { type ActiveConfig, Reloader, type ReloaderOptions } from "./reloader.ts";
import { unservedSummary } from "./unserved.ts";
import { watchFiles } from "./watch-files.ts";

/** Plugins, as far as a reload concerns them. */
export interface ReloadPlugins {
  participants(): NamedParticipant[];
  manifest(pluginId: string): Manifest | undefined;
  /** Manifests of all discovered plugins, whatever their state. */
  manifests(): Manifest[];
  /** Replaces the plugins whose entries changed. */
  applyEntries(ids: readonly string[]): Promise<PluginReload[]>;
}

export interface ReloadHost extends Pick<ReloaderOptions, "initial" | "onSettled" | "requestRestart"> {
  env: Env;
  /** The environment as files say now; default: `env`. */
  readEnv?: (() => Promise<Env>) | undefined;
  /** Ends programs that are asked for secrets: the gateway stops. */
  signal: AbortSignal;
  flags: StartFlags;
  hooks: HookBus;
  plugins: ReloadPlugins;
  authenticator(): Authenticator;
  mask(config: SvcConfig): SvcConfig;
  logger: Logger & { addSecret(value: string): void };
}

/** Makes the config snapshot of a gateway and the way changes get into it. Nothing is followed before `start`. */
export function openReloader(host: ReloadHost): Reloader {
  const { initial, onSettled, requestRestart, logger, signal } = host;
  let warned = new Set<string>();
  const warn = (loaded: LoadedConfig) => {
    const warnings = warningsOf(loaded);
    for (const text of warnings) if (!warned.has(text)) logger.warn(`config: ${text}`);
    warned = warnings;
  };
  warn(initial);
  const reloader: Reloader = new Reloader({
    initial,
    onSettled,
    requestRestart,
    pass: passOf(host),
    logger,
    now: Date.now,
    async load(active, { secretsOnly }) {
      const from = { env: (await host.readEnv?.()) ?? host.env, previous: active, signal };
      return secretsOnly ? loadSecrets(active, from) : loadConfig(active.path, from);
    },
    onSwap(loaded) {
      for (const secret of loaded.secrets.values()) logger.addSecret(secret);
      warn(loaded);
      const { gateway } = loaded.config;
      const proxyRules = JSON.stringify([gateway.auth.trustedProxy, gateway.trustedProxies]);
      host.authenticator().rotate(authOf(loaded, host), proxyRules, isTailnetAllowed(gateway));
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

/** Parts of the gateway that a pass asks and changes. */
function passOf(host: ReloadHost): Omit<PassDeps, "swap" | "logger"> {
  const { hooks, mask, plugins } = host;
  return {
    classes: (prev, next) => ({
      classOf: (path) => reloadClassOf(path).reload,
      manifestReload: (id) => plugins.manifest(id)?.reload,
      authModeChanged: authOf(prev, host).mode !== authOf(next, host).mode,
    }),
    refusals: (next) => refusalsOf(next, host),
    participants: plugins.participants,
    mask,
    validate: (config, paths) => hooks.run("config.validate", { config: mask(config), paths }),
    raise: (event) => hooks.run("reload.plan", event),
    attribute: (plugin, run) => running.run({ plugin, what: "config reload" }, run),
    changed: (prev, next, paths) => hooks.run("config.changed", { prev: mask(prev), next: mask(next), paths }),
    applyEntries: plugins.applyEntries,
  };
}

/** Reasons why a valid config cannot run in this process. */
function refusalsOf(next: ActiveConfig, host: ReloadHost): Array<{ path: string; message: string }> {
  const { config, path: file, locate } = next;
  const unknown = channelIssues(config, { manifests: host.plugins.manifests(), file, locate });
  if (unknown.length > 0) return unknown.map(({ path, message }) => ({ path, message }));
  const missing = missingStartSecret(next, host.flags);
  if (missing) return [{ path: missing.path, message: missing.reason }];
  const { mode, secret } = authOf(next, host);
  if (mode === "none" || mode === "trusted-proxy" || secret !== undefined || host.authenticator().source === "runtime") return [];
  return [{ path: `gateway.auth.${mode}`, message: "it is gone, and callers could not be told apart; set another one" }];
}

function authOf({ config, env }: { config?: SvcConfig; env: Env }, { flags }: Pick<ReloadHost, "flags">) {
  return resolveAuth({ config, env, flags });
}

/** Log lines about the config in force, each text once. */
function warningsOf({ warnings, unserved }: LoadedConfig): Set<string> {
  const summary = unservedSummary(unserved);
  return new Set([...warnings.map(({ path, message }) => `${path}: ${message}`), ...(summary === undefined ? [] : [summary])]);
}
