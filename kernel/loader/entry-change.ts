import type { SvcConfig } from "../../sdk/config/root.ts";
import type { ManifestReload } from "../../sdk/types/manifest.ts";
import { diffConfig } from "../config/diff.ts";
import { classifyChanges } from "../config/reload-plan.ts";

export type PluginEntry = Partial<SvcConfig["plugins"]["entries"][string]>;

/**
 * Decides how a running instance reacts to a changed entry of `plugins.entries`: `none` when it reads the change by itself or it concerns the next start,
 * `config` when its config differs (`onConfigChange` may take it), `replace` when its powers, its variables or its place to run differ, `restart` when its
 * manifest says that only a restart will do.
 */
export function entryChange(
  id: string,
  prev: PluginEntry,
  next: PluginEntry,
  reload: ManifestReload | undefined,
): "none" | "config" | "replace" | "restart" {
  const differs = (key: string) => diffConfig(member(prev, key), member(next, key)).length > 0;
  if (differs("grants") || differs("env") || differs("isolation")) return "replace";
  const own = diffConfig({ config: prev.config ?? {} }, { config: next.config ?? {} }).map((path) => `plugins.entries.${id}.${path}`);
  const classes = classifyChanges(own, { classOf: () => "plugin", manifestReload: () => reload, authModeChanged: false }).map(
    (a) => a.reload,
  );
  if (classes.includes("restart")) return "restart";
  return classes.some((c) => c !== "none") ? "config" : "none";
}

function member(entry: PluginEntry, key: string): unknown {
  return (entry as Record<string, unknown>)[key];
}
