import { basename } from "node:path";
import { type ConfigIssue, formatIssue } from "../../sdk/config/config-issue.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { commonErrors } from "../../sdk/errors.ts";
import type { ConfigWarning } from "../../sdk/types/config-file.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { effectivePrefixes } from "./conflicts-hooks.ts";
import { nearest } from "./issues.ts";
import type { LoadedConfig } from "./loaded.ts";
import type { Locate } from "./place.ts";

/** Channel ids that some plugin claims, disabled ones included. */
function claimedChannels(manifests: readonly Manifest[]): Set<string> {
  return new Set(manifests.flatMap((m) => [...(m.contributes?.channels ?? []), ...Object.keys(m.channelConfigs ?? {})]));
}

/** Sections of `channels` that no plugin claims: errors, because nothing would ever read them. Pure. */
export function channelIssues(config: SvcConfig, options: { manifests: readonly Manifest[]; file: string; locate: Locate }): ConfigIssue[] {
  const claimed = claimedChannels(options.manifests);
  const known = ["defaults", ...claimed];
  return Object.keys(config.channels)
    .filter((id) => !known.includes(id))
    .map((id) => {
      const near = nearest(id, known);
      return {
        path: `channels.${id}`,
        code: "unknown_key",
        message: `unknown channel "${id}"${near ? "" : `; known here: ${known.join(", ")}`}`,
        hint: near ? `did you mean "${near}"?` : "install the plugin that brings this channel, or remove the section",
        file: options.file,
        ...options.locate(["channels", id], "key"),
      };
    });
}

/**
 * The same at a start, once plugins were looked for.
 * @throws {SvcError} `invalid-config` naming every section that nobody claims
 */
export function requireKnownChannels(
  loaded: Pick<LoadedConfig, "path" | "locate"> & { config: SvcConfig },
  manifests: readonly Manifest[],
): void {
  const issues = channelIssues(loaded.config, { manifests, file: basename(loaded.path), locate: loaded.locate });
  if (issues.length > 0)
    throw commonErrors.invalidConfig({ message: [`${loaded.path} is not valid`, ...issues.map(formatIssue)].join("\n") });
}

/** Installed plugins and channels, as far as warnings need them. */
export interface KnownIds {
  /** Ids of every plugin that was found, whatever its state. */
  plugins: ReadonlySet<string>;
  /** Plugins among these that fill the slot `memory`. */
  memoryPlugins: ReadonlySet<string>;
  /** Names for `hooks.presets`. */
  hookPresets: ReadonlySet<string>;
}

/** {@link KnownIds} of the plugins found. */
export function knownIdsOf(manifests: readonly Manifest[]): KnownIds {
  return {
    plugins: new Set(manifests.map((m) => m.id)),
    memoryPlugins: new Set(manifests.filter((m) => m.slot === "memory").map((m) => m.id)),
    hookPresets: new Set(manifests.flatMap((m) => m.contributes?.hookPresets ?? [])),
  };
}

/** Names that lead nowhere: a plugin that was removed must not stop the gateway, so these are warnings. Pure. */
export function unknownIdWarnings(config: SvcConfig, known: KnownIds): ConfigWarning[] {
  const { entries, allow = [], deny, slots } = config.plugins;
  const unknown = (path: string, id: string): ConfigWarning[] => {
    if (known.plugins.has(id)) return [];
    const near = nearest(id, [...known.plugins]);
    return [{ path, message: `plugin "${id}" is not installed${near ? `; did you mean "${near}"?` : ""}` }];
  };
  const slot = slots.memory === "none" || known.memoryPlugins.has(slots.memory) ? [] : [slots.memory];
  return [
    ...Object.keys(entries).flatMap((id) => unknown(`plugins.entries.${id}`, id)),
    ...allow.flatMap((id, i) => unknown(`plugins.allow.${i}`, id)),
    ...deny.flatMap((id, i) => unknown(`plugins.deny.${i}`, id)),
    ...slot.map((id) => ({ path: "plugins.slots.memory", message: `no plugin "${id}" fills this slot; memory search is off` })),
    ...config.hooks.presets.flatMap((name, i) =>
      known.hookPresets.has(name) ? [] : [{ path: `hooks.presets.${i}`, message: `no preset "${name}" is known; it is left out` }],
    ),
  ];
}

/** Shortest hook token that is not called weak. */
const MIN_HOOK_TOKEN_CHARS = 24;

/** Settings that work and still deserve a second look. Pure; no secret in the text. */
export function riskWarnings({ gateway, hooks }: SvcConfig): ConfigWarning[] {
  const warnings = edgeWarnings(gateway);
  if (!hooks.enabled) return warnings;
  const hasPrefixes = effectivePrefixes(hooks).length > 0;
  if (hooks.token !== undefined && hooks.token.length < MIN_HOOK_TOKEN_CHARS) {
    warnings.push({ path: "hooks.token", message: `shorter than ${MIN_HOOK_TOKEN_CHARS} characters; use a long random text` });
  }
  if (hooks.allowRequestSessionKey && !hasPrefixes) {
    warnings.push({ path: "hooks.allowRequestSessionKey", message: "payloads may name any session; add hooks.allowedSessionKeyPrefixes" });
  }
  hooks.mappings.forEach((mapping, i) => {
    const at = `hooks.mappings.${i}`;
    if (mapping.sessionKey?.includes("{{") && !hasPrefixes) {
      warnings.push({
        path: `${at}.sessionKey`,
        message: "payloads decide a part of the session key; add hooks.allowedSessionKeyPrefixes",
      });
    }
    if (mapping.allowUnsafeExternalContent) {
      warnings.push({
        path: `${at}.allowUnsafeExternalContent`,
        message: "payloads reach the agent unframed, as if the operator had written them",
      });
    }
  });
  if (hooks.transforms.isolation !== "process") {
    warnings.push({
      path: "hooks.transforms.isolation",
      message: `transforms run in "${hooks.transforms.isolation}", which holds no hostile code`,
    });
  }
  return warnings;
}

/** Settings that admit more than they seem to. */
function edgeWarnings({ controlUi, trustedProxies }: SvcConfig["gateway"]): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  if (controlUi.allowedOrigins?.includes("*")) {
    warnings.push({
      path: "gateway.controlUi.allowedOrigins",
      message: 'the "*" lets the pages of every site in; list the origins instead',
    });
  }
  if (controlUi.dangerouslyAllowHostHeaderOriginFallback) {
    const message = "every name that leads here passes as the gateway's own; list the origins in gateway.controlUi.allowedOrigins instead";
    warnings.push({ path: "gateway.controlUi.dangerouslyAllowHostHeaderOriginFallback", message });
  }
  if (trustedProxies.some((range) => range.endsWith("/0"))) {
    warnings.push({ path: "gateway.trustedProxies", message: "everybody may say who the client is; list the addresses of the proxies" });
  }
  return warnings;
}
