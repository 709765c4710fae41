import type { InstalledPlugins, PluginCandidate } from "svc/sdk";

export type Severity = "info" | "warning" | "error";
export const severities: readonly Severity[] = ["info", "warning", "error"];

/** One thing that is not as it should be, in the form of `svc doctor`. */
export interface Finding {
  id: string;
  plugin?: string;
  severity: Severity;
  message: string;
  /** Config path. */
  path?: string;
  fix?: string;
}

/** State of one plugin in the running gateway. */
export interface LiveState {
  state: string;
  code?: string;
  reason?: string;
  hint?: string;
}

/** Everything that was looked at. */
export interface Evidence {
  candidates: readonly PluginCandidate[];
  /** States by plugin; undefined when no gateway runs. */
  live: ReadonlyMap<string, LiveState> | undefined;
  /** Refused registrations and deprecated calls, of the running gateway. */
  diagnostics: ReadonlyArray<{ pluginId: string; code: string; message: string }>;
  /** Reasons why modules do not load, by plugin; only checked while no gateway runs. */
  imports: ReadonlyMap<string, string>;
  index: Awaited<ReturnType<InstalledPlugins["read"]>>;
  /** Installed plugins whose folder is there: does it hold what was installed? */
  intact: ReadonlyMap<string, boolean>;
  /** Problems of the config: unknown names, entries that do not fit. */
  config: ReadonlyArray<{ path: string; message: string; severity: Severity }>;
  /** Granted permissions by plugin. */
  grants: ReadonlyMap<string, readonly string[]>;
}

/** Findings in the order of the plugins, those of no plugin last. Pure. */
export function findingsOf(evidence: Evidence): Finding[] {
  const { candidates, index, config } = evidence;
  const found = new Set(candidates.filter((c) => c.installed).map((c) => c.id));
  const gone = Object.keys(index.plugins).filter((id) => !found.has(id) && !evidence.intact.has(id));
  return [
    ...liveOnly(evidence).flatMap((c) => stateOf(c, evidence)),
    ...candidates.flatMap((c) => [...stateOf(c, evidence), ...contentOf(c, evidence), ...manifestOf(c, evidence)]),
    ...gone.map((id): Finding => {
      const fix = `svc plugins uninstall ${id}, or install it again from ${index.plugins[id]?.source.spec}`;
      return {
        id: "plugins/missing",
        plugin: id,
        severity: "warning",
        message: "it is recorded as installed, but its files are gone",
        fix,
      };
    }),
    ...config.map(({ path, message, severity }): Finding => {
      return { id: severity === "error" ? "plugins/config" : "plugins/missing", severity, message, path };
    }),
  ];
}

/** Plugins that run and that no place of the config leads to, such as a folder somebody works on. */
function liveOnly({ candidates, live }: Evidence): Array<Pick<PluginCandidate, "id" | "problem" | "origin">> {
  const found = new Set(candidates.map((c) => c.id));
  return [...(live?.keys() ?? [])].filter((id) => !found.has(id)).map((id) => ({ id, origin: "config" as const }));
}

/** Reason why a plugin does not work: on disk, else in the running gateway. */
function stateOf(candidate: Pick<PluginCandidate, "id" | "problem" | "origin">, { live, diagnostics, imports }: Evidence): Finding[] {
  const { id, problem, origin } = candidate;
  const finding = (severity: Severity, why: { code?: string; reason?: string; hint?: string }, state: string): Finding => ({
    id: "plugins/load",
    plugin: id,
    severity,
    message: `${state}: ${why.code ? `${why.code}: ` : ""}${why.reason ?? "no reason is known"}`,
    ...(why.hint ? { fix: why.hint } : {}),
  });
  if (problem?.state === "disabled") return [];
  if (problem?.code === "duplicate-id" && origin === "bundled") return [finding("info", problem, "replaced")];
  if (problem) return [finding("error", problem, problem.state)];
  const unloadable = imports.get(id);
  if (unloadable !== undefined) return [finding("error", { code: "import-failed", reason: unloadable }, "does not load")];
  const now = live?.get(id);
  const told = diagnostics
    .filter((d) => d.pluginId === id)
    .map(({ code, message }): Finding => {
      const isDeprecation = code.startsWith("SVC_DEP");
      return { id: isDeprecation ? "plugins/deprecated" : "plugins/load", plugin: id, severity: "warning", message: `${code}: ${message}` };
    });
  if (now?.state === "failed" || now?.state === "blocked") return [finding("error", now, now.state), ...told];
  const isUnwell = now?.state === "retrying" || (now?.state === "degraded" && told.length === 0);
  return isUnwell && now ? [finding("warning", now, now.state), ...told] : told;
}

/** Whether its files are those somebody vouched for. */
function contentOf({ id, origin, installed, problem }: PluginCandidate, { intact }: Evidence): Finding[] {
  const integrity = (severity: Severity, message: string, fix: string): Finding => ({
    id: "plugins/integrity",
    plugin: id,
    severity,
    message,
    fix,
  });
  if (installed && intact.get(id) === false && problem?.code !== "integrity") {
    return [integrity("warning", "its files are not those that were installed", `svc plugins install --confirm ${id}`)];
  }
  if (origin === "global" && !installed && !problem) {
    return [
      integrity("warning", "it was put there by hand, so nothing tells when its files change", "install it with: svc plugins install"),
    ];
  }
  return [];
}

function manifestOf({ id, origin, manifest, problem }: PluginCandidate, { grants }: Evidence): Finding[] {
  if (problem || !manifest) return [];
  const findings: Finding[] = [];
  if (manifest.deprecated) findings.push({ id: "plugins/deprecated", plugin: id, severity: "warning", message: manifest.deprecated });
  const missing = (manifest.permissions ?? []).filter((p) => origin !== "bundled" && !grants.get(id)?.includes(p));
  if (missing.length > 0) {
    const message = `it asks for permissions that are not granted: ${missing.join(", ")}`;
    const path = `plugins.entries.${id}.grants`;
    findings.push({ id: "plugins/permissions", plugin: id, severity: "info", message, path, fix: `add them to ${path} if you want that` });
  }
  return findings;
}
