import type { Contributes } from "../../sdk/types/manifest.ts";
import type { PluginCandidate as Candidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord, PluginState, TapRecord } from "../../sdk/types/plugin-record.ts";
import { hintFor } from "./faults.ts";

/** The one line a boot ends with: `plugins: 14 active, 7 load when they are used, 1 failed (irc: import-failed), 2 blocked; 812 ms`. */
export function summarizePlugins(records: readonly PluginRecord[], ms: number): string {
  const count = (state: PluginState) => records.filter((r) => r.state === state).length;
  const failed = records.filter((r) => r.state === "failed").map((r) => `${r.id}: ${r.code}`);
  const parts = [`${count("active")} active`];
  const unused = count("ready");
  if (unused > 0) parts.push(`${unused} ${unused === 1 ? "loads when it is used" : "load when they are used"}`);
  for (const state of ["degraded", "retrying"] as const) if (count(state) > 0) parts.push(`${count(state)} ${state}`);
  if (failed.length > 0) parts.push(`${failed.length} failed (${failed.join(", ")})`);
  if (count("blocked") > 0) parts.push(`${count("blocked")} blocked`);
  return `plugins: ${parts.join(", ")}; ${ms} ms`;
}

/** The record of a plugin that was just found. */
export function firstRecord(candidate: Candidate, now: number): PluginRecord {
  const { manifest, problem } = candidate;
  const hint = problem && (problem.hint ?? hintFor(problem.code, candidate.id));
  return {
    id: candidate.id,
    version: candidate.version,
    name: manifest?.name ?? candidate.id,
    description: manifest?.description ?? "",
    origin: candidate.origin,
    state: problem?.state ?? "ready",
    since: now,
    ...(problem ? { code: problem.code, reason: problem.reason } : {}),
    ...(hint ? { hint } : {}),
    instance: 0,
    diagnostics: [],
  };
}

const kinds: ReadonlyArray<[keyof Contributes, string]> = [
  ["channels", "channel"],
  ["embeddingAdapters", "embedding"],
  ["memoryBackends", "memory"],
  ["modelProviders", "model"],
  ["tools", "tool"],
  ["hookPresets", "hook-preset"],
];

/** Kinds of a plugin by its manifest: `channel`, `embedding`, `memory`, `model`, `tool`, `hook-preset`. */
function pluginKinds(contributes: Contributes | undefined): string[] {
  return kinds.filter(([key]) => (contributes?.[key]?.length ?? 0) > 0).map(([, kind]) => kind);
}

/** A plugin's row in the answer of `plugins.list`. */
export function toPluginRow(record: PluginRecord, candidate: Candidate | undefined, hooks: readonly TapRecord[]): Record<string, unknown> {
  const state = record.state === "failed" || record.state === "blocked" ? "error" : record.state === "disabled" ? "disabled" : "enabled";
  const { id, name, version, description, origin, since, instance, code, reason, hint, ms, isolation, lastReload } = record;
  const kind = pluginKinds(candidate?.manifest?.contributes);
  const runtime = { state: record.state, since, instance, code, reason, hint, ms, isolation, lastReload };
  return {
    id,
    name,
    version,
    description,
    ...(kind.length > 0 ? { kind } : {}),
    origin,
    installed: true,
    enabled: state === "enabled",
    state,
    ...(reason ? { error: reason } : {}),
    runtime: Object.fromEntries(Object.entries(runtime).filter(([, v]) => v !== undefined)),
    hooks,
    diagnostics: record.diagnostics,
  };
}

/** Declarations of a manifest, by their names in `plugins.inspect`. */
export function declaredBy(contributes: Contributes = {}, hooks: readonly TapRecord[] = []): Record<string, readonly string[]> {
  return {
    channels: contributes.channels ?? [],
    providers: contributes.modelProviders ?? [],
    embeddings: contributes.embeddingAdapters ?? [],
    memoryBackends: contributes.memoryBackends ?? [],
    tools: contributes.tools ?? [],
    hooks: [...new Set(hooks.map((h) => h.hook))],
    hookPresets: contributes.hookPresets ?? [],
    methods: contributes.rpc ?? [],
    routes: contributes.http ?? [],
    commands: contributes.cli ?? [],
    services: contributes.services ?? [],
    events: contributes.events ?? [],
  };
}

/** Part `plugins` of the health payload. */
export function toPluginHealth(
  records: readonly PluginRecord[],
  quarantined: ReadonlyArray<TapRecord & { id: string }> = [],
): Record<string, unknown> {
  return {
    loaded: records.filter((r) => r.state === "active" || r.state === "degraded").map((r) => r.id),
    errors: records
      .filter((r) => ["failed", "degraded", "retrying"].includes(r.state) || r.code === "quarantined")
      .map((r) => ({ id: r.id, error: r.reason ?? r.code ?? r.state })),
    quarantined,
  };
}
