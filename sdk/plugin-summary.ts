import type { PluginRecord, PluginState } from "./types/plugin-record.ts";

/** The one line a boot ends with: `plugins: 14 active, 1 failed (irc: import-failed), 2 blocked; 812 ms`. */
export function summarizePlugins(records: readonly PluginRecord[], ms: number): string {
  const count = (state: PluginState) => records.filter((r) => r.state === state);
  const failed = count("failed").map((r) => `${r.id}: ${r.code}`);
  const parts = [`${count("active").length} active`];
  if (count("degraded").length > 0) parts.push(`${count("degraded").length} degraded`);
  if (failed.length > 0) parts.push(`${failed.length} failed (${failed.join(", ")})`);
  if (count("blocked").length > 0) parts.push(`${count("blocked").length} blocked`);
  return `plugins: ${parts.join(", ")}; ${ms} ms`;
}

/** A plugin's row in the answer of `plugins.list`. */
export function toPluginRow(p: PluginRecord): Record<string, unknown> {
  const state = p.state === "failed" || p.state === "blocked" ? "error" : p.state === "disabled" ? "disabled" : "enabled";
  const { id, name, version, description, origin, since, instance, code, reason, hint, ms } = p;
  const runtime = Object.fromEntries(
    Object.entries({ state: p.state, since, instance, code, reason, hint, ms }).filter(([, v]) => v !== undefined),
  );
  return {
    id,
    name,
    version,
    description,
    origin,
    installed: true,
    enabled: state === "enabled",
    state,
    ...(reason ? { error: reason } : {}),
    runtime,
  };
}

/** Part `plugins` of the health payload. */
export function toPluginHealth(records: readonly PluginRecord[]): Record<string, unknown> {
  return {
    loaded: records.filter((r) => r.state === "active" || r.state === "degraded").map((r) => r.id),
    errors: records
      .filter((r) => r.state === "failed" || r.state === "degraded")
      .map((r) => ({ id: r.id, error: r.reason ?? r.code ?? r.state })),
    quarantined: [],
  };
}
