import { stat } from "node:fs/promises";
import { messageOf } from "../../sdk/errors.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginReload } from "../../sdk/types/plugin-record.ts";
import { entryChange, type PluginEntry } from "./entry-change.ts";
import type { LoaderHost } from "./host.ts";
import { ownCallEnd } from "./leases.ts";
import type { ManagedPlugin } from "./managed-plugin.ts";
import type { Outcome } from "./plugin-instances.ts";
import type { PluginTable } from "./plugin-table.ts";

/** `entry`: its config entry changed; `reload`: an operator asked, or a file of it changed. */
export type Cause = "entry" | "reload";

/** Problems by which an operator switches a plugin off, as opposed to a fault of its own. */
const offCodes = new Set(["not-enabled", "not-allowed", "denied", "slot-taken"]);

/** Brings one plugin in line with config and disk. From inside a call of the same plugin it only begins when that call has ended. */
export async function reconcilePlugin(
  plugin: ManagedPlugin,
  cause: Cause,
  deps: { table: PluginTable; host: LoaderHost },
): Promise<PluginReload> {
  const { id, record } = plugin;
  const { logger, clock } = deps.host;
  const ownCall = ownCallEnd(id);
  if (ownCall) {
    void ownCall.then(() => reconcilePlugin(plugin, cause, deps));
    return { id, status: "scheduled", ms: 0 };
  }
  const started = performance.now();
  const { status, error } = await plugin.serial(() => followDisk(plugin, cause, deps));
  const message = error === undefined ? undefined : messageOf(error);
  const failure = message === undefined ? {} : { error: message };
  if (status !== "unchanged") record.lastReload = { at: clock.now(), status, ...failure };
  if (message !== undefined) logger.warn(`plugin "${id}": reload ${status}: ${message}`, { code: "reload-failed" });
  if (message !== undefined && plugin.isRunning) plugin.move(record.state, { code: "reload-failed", reason: message });
  return { id, status, ...failure, ms: Math.round(performance.now() - started) };
}

async function followDisk(
  plugin: ManagedPlugin,
  cause: Cause,
  { table, host }: { table: PluginTable; host: LoaderHost },
): Promise<Outcome> {
  const found = (await host.discoverOne(plugin.id)) ?? (await goneOrUnreadable(plugin.candidate));
  if (table.stopping.aborted || !table.has(plugin)) return { status: "unchanged" };
  const { problem, manifest, origin } = found;
  // A running plugin that became unfit on disk serves on as it is; only the operator's word switches it off.
  if (problem && plugin.isRunning && !offCodes.has(problem.code)) return { status: "failed", error: new Error(problem.reason) };
  const wasOff = plugin.candidate.problem !== undefined;
  plugin.candidate = found;
  Object.assign(plugin.record, { origin, name: manifest?.name ?? plugin.id, description: manifest?.description ?? "" });
  table.redraw();
  if (problem) {
    const before = plugin.record.state;
    await plugin.switchOff(problem);
    return { status: before === problem.state ? "unchanged" : "disabled" };
  }
  if (!plugin.entry) return switchOn(plugin, wasOff);
  return cause === "reload" ? plugin.replace("fresh") : applyEntry(plugin, plugin.entry, host);
}

async function switchOn(plugin: ManagedPlugin, wasOff: boolean): Promise<Outcome> {
  if (plugin.mayWait && (wasOff || plugin.record.state === "ready")) {
    if (!wasOff) return { status: "unchanged" };
    plugin.move("ready");
    plugin.loadOnUse();
  } else await plugin.load();
  const { state, reason } = plugin.record;
  return state === "failed" ? { status: "failed", error: reason } : { status: "enabled" };
}

async function applyEntry(plugin: ManagedPlugin, current: PluginEntry, host: LoaderHost): Promise<Outcome> {
  const entry = host.config().plugins.entries[plugin.id] ?? {};
  const change = entryChange(plugin.id, current, entry, plugin.candidate.manifest?.reload);
  if (change === "none") return { status: "unchanged" };
  if (change === "restart") return { status: "restart-required" };
  if (change === "replace") return plugin.replace("fresh");
  try {
    if (await plugin.offerConfig()) return { status: "in-place" };
  } catch (error) {
    return { status: "failed", error };
  }
  return plugin.replace("same");
}

/** A manifest that cannot be read just now hides which plugin its folder holds. */
async function goneOrUnreadable(candidate: PluginCandidate): Promise<PluginCandidate> {
  const isThere = await stat(candidate.root).then(
    () => true,
    () => false,
  );
  if (isThere)
    return { ...candidate, problem: { state: "blocked", code: "manifest-invalid", reason: "its svc.plugin.json cannot be read" } };
  return { ...candidate, problem: { state: "disabled", code: "not-enabled", reason: "its folder is gone" } };
}
