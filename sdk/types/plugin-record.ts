import type { PluginOrigin } from "./manifest.ts";

/** `discovered → blocked | disabled | ready → loading → active ⇄ degraded → stopping → disposed`, plus `retrying` and `failed`. */
export type PluginState =
  | "ready"
  | "loading"
  | "active"
  | "degraded"
  | "retrying"
  | "failed"
  | "blocked"
  | "disabled"
  | "stopping"
  | "disposed";

/** Reasons why a plugin is not simply active. */
export const pluginCodes = [
  "path-escape",
  "world-writable",
  "bad-owner",
  "hardlink",
  "integrity",
  "not-allowed",
  "denied",
  "not-enabled",
  "manifest-invalid",
  "api-mismatch",
  "config-invalid",
  "missing-dependency",
  "dependency-failed",
  "cycle",
  "duplicate-id",
  "slot-taken",
  "import-failed",
  "import-timeout",
  "setup-failed",
  "setup-timeout",
  "start-failed",
  "permission-missing",
  "reload-failed",
  "quarantined",
  "safe-mode",
  "blocked-event-loop",
] as const;

/** One tap of a plugin, as `plugins.list` and `svc status` show it. */
export interface TapRecord {
  hook: string;
  /** Name its author gave it, `id` of the options. */
  tap?: string;
  /** `open` = quarantined until `until`; `half-open` = its trial call is under way. */
  state: "closed" | "open" | "half-open";
  failures: number;
  /** Epoch ms of the next trial. */
  until?: number;
  lastError?: string;
}

/** Row of `svc plugins list`. Times are epoch ms. */
export interface PluginRecord {
  id: string;
  version: string;
  name: string;
  description: string;
  origin: PluginOrigin;
  state: PluginState;
  since: number;
  /** Reason why it is not simply active. */
  code?: string;
  reason?: string;
  hint?: string;
  instance: number;
  /** Milliseconds of import, setup and start. */
  ms?: number;
  /** Kind of isolation, when it does not run in the gateway's own thread. */
  isolation?: "worker" | "process";
  lastReload?: { at: number; status: PluginReloadStatus; error?: string };
  /** Registrations that were refused, and other things to know. */
  diagnostics: Array<{ code: string; message: string }>;
}

/**
 * How one plugin's reload ended. `in-place`: `onConfigChange` took it; `scheduled`: asked for from inside a call of the same plugin, runs when that
 * call ends; `failed`: nothing changed, the old instance serves on; `rolled-back`: the new one of an exclusive plugin did not start, the old one runs again.
 */
export type PluginReloadStatus =
  | "reloaded"
  | "in-place"
  | "enabled"
  | "disabled"
  | "unchanged"
  | "scheduled"
  | "failed"
  | "rolled-back"
  | "restart-required";

/** Result for one plugin that was to change. */
export interface PluginReload {
  id: string;
  status: PluginReloadStatus;
  error?: string;
  /** Milliseconds it took. */
  ms: number;
}
