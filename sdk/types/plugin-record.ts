import type { PluginOrigin } from "./manifest.ts";

/** `discovered → blocked | disabled | ready → loading → active ⇄ degraded → stopping → disposed`, or `failed`. */
export type PluginState = "ready" | "loading" | "active" | "degraded" | "failed" | "blocked" | "disabled" | "stopping" | "disposed";

/** What `svc plugins list` shows of one plugin. Times are epoch ms. */
export interface PluginRecord {
  id: string;
  version: string;
  name: string;
  description: string;
  origin: PluginOrigin;
  state: PluginState;
  since: number;
  /** Why it is not simply active. */
  code?: string;
  reason?: string;
  hint?: string;
  instance: number;
  /** Milliseconds of import, setup and start. */
  ms?: number;
  /** Registrations that were refused. */
  diagnostics: Array<{ code: string; message: string }>;
}
