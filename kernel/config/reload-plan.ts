import type { ManifestReload } from "../../sdk/types/manifest.ts";
import type { ReloadAction, ReloadClass } from "../../sdk/types/reload.ts";
import { pathSteps, touches } from "./diff.ts";

export type ReloadMode = "off" | "hot" | "restart" | "hybrid";

/** Plan for a set of changes. */
export interface ReloadPlan {
  /** `swap`: a new snapshot now; `restart`: none, the gateway starts anew with all of it; `keep`: none, until somebody starts it. */
  step: "swap" | "restart" | "keep";
  /** Paths whose old value stays in the snapshot. */
  kept: string[];
  /** Paths that take effect now. */
  applied: string[];
  /** Paths that wait for a restart. */
  pendingRestart: string[];
}

/** Facts the class of a path may depend on. */
export interface ClassContext {
  /** Class by the key tree. */
  classOf(path: string): ReloadClass;
  /** `reload` of a plugin's manifest. */
  manifestReload(pluginId: string): ManifestReload | undefined;
  /** The mode of authentication differs between the two configs: then its secrets are no mere rotation. */
  authModeChanged: boolean;
}

/** Each changed path with its class. */
export function classifyChanges(paths: readonly string[], context: ClassContext): ReloadAction[] {
  return paths.map((path) => ({ path, reload: classify(path, context) }));
}

function classify(path: string, context: ClassContext): ReloadClass {
  if (touches(path, "gateway.reload")) return "none";
  if (context.authModeChanged && ["mode", "token", "password"].some((key) => touches(path, `gateway.auth.${key}`))) return "restart";
  const [plugins, entries, id, section, ...own] = pathSteps(path);
  if (plugins === "plugins" && entries === "entries" && id !== undefined) {
    return section === "config" ? ownClass(own.join("."), context.manifestReload(id)) : "plugin";
  }
  return context.classOf(path);
}

/** Class of a path in a plugin's own config: the longest prefix its manifest lists, else the instance is replaced. */
function ownClass(path: string, reload: ManifestReload | undefined): ReloadClass {
  const listed = [
    ...(reload?.noopPrefixes ?? []).map((prefix) => ({ prefix, reload: "none" as const })),
    ...(reload?.hotPrefixes ?? []).map((prefix) => ({ prefix, reload: "hot" as const })),
    ...(reload?.restartPrefixes ?? []).map((prefix) => ({ prefix, reload: "restart" as const })),
  ];
  const fitting = listed.filter(({ prefix }) => pathSteps(path).length >= pathSteps(prefix).length && touches(path, prefix));
  return fitting.sort((a, b) => pathSteps(b.prefix).length - pathSteps(a.prefix).length)[0]?.reload ?? "plugin";
}

/** Applies the answer of a `reload.plan` tap: a class may rise to `restart`, everything else in its answer is ignored. */
export function raisedOnly(actions: readonly ReloadAction[], answer: unknown): ReloadAction[] {
  const given = (answer as { actions?: unknown } | undefined)?.actions;
  const raised = new Set(
    (Array.isArray(given) ? given : []).flatMap((a: Partial<ReloadAction> | null) => (a?.reload === "restart" ? [a.path] : [])),
  );
  return actions.map((action) => (raised.has(action.path) && action.reload !== "none" ? { ...action, reload: "restart" } : action));
}

/**
 * The table of reload modes. A set is never split, except that `hot` leaves out what needs a restart and that `gateway.reload` itself always applies.
 *
 * @param explicit somebody asked for this reload: then `off` behaves like `hot`
 */
export function planReload(actions: readonly ReloadAction[], options: { mode: ReloadMode; explicit: boolean }): ReloadPlan {
  const { explicit } = options;
  const mode = options.mode === "off" && explicit ? "hot" : options.mode;
  const paths = (keep: (action: ReloadAction) => boolean) => actions.filter(keep).map((action) => action.path);
  const needsRestart = (action: ReloadAction) => action.reload === "restart" || (mode === "restart" && action.reload !== "none");
  const swap = (kept: string[]): ReloadPlan => ({
    step: "swap",
    kept,
    applied: paths((action) => !kept.includes(action.path)),
    pendingRestart: paths((action) => action.reload === "restart" && kept.includes(action.path)),
  });

  if (mode === "off") {
    const others = paths((action) => !touches(action.path, "gateway.reload"));
    return others.length === actions.length && others.length > 0
      ? { step: "keep", kept: others, applied: [], pendingRestart: others }
      : { ...swap(others), pendingRestart: others };
  }
  if (mode === "hot") return swap(paths(needsRestart));
  const pending = paths(needsRestart);
  return pending.length === 0 ? swap([]) : { step: "restart", kept: paths(() => true), applied: [], pendingRestart: pending };
}
