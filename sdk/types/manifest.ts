import type { JsonSchema } from "./schema.ts";

/** Place where a plugin was found; decides default enablement and trust, never what it may call. */
export type PluginOrigin = "config" | "workspace" | "global" | "bundled";

/** Permissions a plugin may ask for; consent and review, not a sandbox. */
export type Permission =
  | "hooks.conversation"
  | "hooks.prompt"
  | "hooks.gate"
  | "auth.provider"
  | "http.public"
  | "rpc.admin"
  | "fs.workspace"
  | "exec"
  | "net";

/** Contributions of a plugin. Registering anything that is not listed here fails with `undeclared-contribution`. */
export interface Contributes {
  channels?: string[];
  embeddingAdapters?: string[];
  /** Provider ids; `"*"` = one provider per configured vendor, ids known only at run time. */
  modelProviders?: string[];
  memoryBackends?: string[];
  /** Ids of findings that it reports by the hook `doctor.collect`, so that `svc doctor --only` knows them; checks of `registerDoctorCheck` need none. */
  doctor?: string[];
  tools?: string[];
  rpc?: string[];
  /** Paths of HTTP routes, as registered. `/*`: the config decides about the path; `*`: any, and the fallback. */
  http?: string[];
  hookPresets?: string[];
  cli?: string[];
  services?: string[];
  /** Events outside `plugin.<id>.`; only their owners declare them. */
  events?: string[];
}

/** One command of the `svc` program. The module is imported only when the command is called. */
export interface ManifestCommand {
  /** Words as typed: `"memory search"`. */
  name: string;
  description: string;
  /** Module relative to the plugin root whose default export is a `CliCommand` or a list of them. */
  module: string;
}

/** Config paths of a plugin and what a change of them takes, and how its instances follow each other. */
export interface ManifestReload {
  hotPrefixes?: string[];
  restartPrefixes?: string[];
  noopPrefixes?: string[];
  /** True for a plugin that holds something only one instance can hold (a fixed socket, a channel account): the old instance stops before the new one starts. */
  exclusive?: boolean;
  /** Replaced as well when one of these services changes hands; others are told through the service handle. */
  restartOnServiceChange?: string[];
}

/** Presentation of a config path in a form. */
export interface UiHint {
  label?: string;
  help?: string;
  sensitive?: boolean;
  placeholder?: string;
  advanced?: boolean;
}

/** `svc.plugin.json`, readable without running code. */
export interface Manifest {
  id: string;
  version: string;
  svc: { api: string };
  entry?: string;
  name?: string;
  description?: string;
  homepage?: string;
  /** JSON Schema of `plugins.entries.<id>.config`. A key with `amount: {unit, min, max}` takes a number or a text with a unit: `30d`, `2gb`. */
  configSchema?: JsonSchema;
  contributes?: Contributes;
  permissions?: Permission[];
  dependencies?: Record<string, string>;
  after?: string[];
  provides?: string[];
  requires?: string[];
  slot?: "memory";
  /** `startup` (default when absent), or what loads it on first use: `channel:irc`, `rpc:x.*`, `http:/x`, `cli:irc`, `embedding:ollama`, `model:x`, `tool:x`, `service:x@1`. */
  activation?: "startup" | string[];
  enabledByDefault?: boolean;
  /** True for a plugin that works without the packages of its `vendor/` folder, which add to what it can do: `svc doctor` mentions them and asks for nothing. */
  optionalPackages?: boolean;
  /** Effect that a change of its own config needs, by paths relative to `plugins.entries.<id>.config`; default: replace the instance. */
  reload?: ManifestReload;
  /** Sensitive config paths (absolute, `*` = one segment) and the variables that may hold the value; for redaction, set-up and `ctx.secret`. */
  secrets?: Array<{ path: string; env?: string[] }>;
  uiHints?: Record<string, UiHint>;
  /** JSON Schemas of `channels.<channelId>`. */
  channelConfigs?: Record<string, JsonSchema>;
  /**
   * Module whose default export is the plugin's part of the protocol. `svc plugins build` writes it as JSON Schema to `svc.protocol.json` beside the
   * manifest, and nothing else is read of it before the plugin runs.
   */
  protocol?: string;
  /** Module with the sections of the config that a plugin of svc owns; `npm run docs` writes them to `svc.sections.json`. Others have `configSchema`. */
  sections?: string;
  cli?: ManifestCommand[];
  deprecated?: string;
}
