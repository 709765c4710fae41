import type { HealthPart } from "../../sdk/hooks.ts";
import type { Contributes } from "../../sdk/types/manifest.ts";
import type { PluginRecord } from "../../sdk/types/plugin-record.ts";
import type { Loader } from "./loader.ts";

/** A plugin that should run and does not. */
export interface DownPlugin {
  plugin: string;
  /** With its code in front, and what to do about it behind. */
  reason: string;
}

/** States of a plugin that somebody wants and that serves nothing; one that an operator switched off is in none of them. */
const downStates = new Set<PluginRecord["state"]>(["failed", "retrying", "loading", "stopping"]);

/** Names the plugin whose manifest declares something that nobody has registered, when it is not running. */
export function findDownOwner(
  loader: Loader,
  kind: keyof Contributes | "provides",
  isSame: (declared: string, plugin: string) => boolean,
): DownPlugin | undefined {
  for (const record of loader.records()) {
    if (!downStates.has(record.state) && record.code !== "quarantined") continue;
    if (loader.find(record.id)?.record !== record) continue;
    const { manifest } = loader.find(record.id)?.candidate ?? {};
    const declared = kind === "provides" ? manifest?.provides : manifest?.contributes?.[kind];
    if (declared?.some((name) => isSame(name, record.id))) return { plugin: record.id, reason: reasonOf(record) };
  }
  return undefined;
}

/** Reason why the provider of a service is not running, as the rest of a sentence. */
export function whyAbsent(loader: Loader, service: string): string | undefined {
  const down = findDownOwner(loader, "provides", (name) => name === service);
  return down && `: plugin "${down.plugin}" is not running: ${down.reason}`;
}

/** Names the provider of a service that the gateway itself asks for, and its state. Callers that nobody knows read it: the reason, which may hold paths, stays in `plugins list`. */
export function whyUnserved(loader: Loader, service: string): string | undefined {
  const provider = loader.records().find(({ id }) => loader.find(id)?.candidate.manifest?.provides?.includes(service));
  return provider && `: plugin "${provider.id}" is ${provider.state}`;
}

/** Parts of health for plugins of the product that did not start: they are on because people rely on them. */
export function downParts(loader: Loader): HealthPart[] {
  return loader
    .records()
    .filter(isBroken)
    .map((record) => ({ part: partOf(record.id), ok: false, critical: true, message: reasonOf(record) }));
}

/** Keeps the reasons for not being ready in step with one plugin: of those that failed, the ones that others cannot do without. */
export function updateReadiness(notReady: Map<string, string>, loader: Loader, record: PluginRecord): void {
  const part = partOf(record.id);
  if (isBroken(record) && loader.dependents(record.id).length > 0) notReady.set(part, reasonOf(record));
  else notReady.delete(part);
}

function isBroken({ origin, state }: PluginRecord): boolean {
  return origin === "bundled" && (state === "failed" || state === "retrying");
}

function partOf(id: string): string {
  return `plugin:${id}`;
}

function reasonOf({ state, code, reason, hint }: PluginRecord): string {
  return `${code ?? state}${reason ? `: ${reason}` : ""}${hint ? `; ${hint}` : ""}`;
}
