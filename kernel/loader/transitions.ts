import { stat } from "node:fs/promises";
import { messageOf } from "../../sdk/errors.ts";
import type { PluginCandidate as Candidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginReload, PluginReloadStatus } from "../../sdk/types/plugin-record.ts";
import { entryChange } from "./entry-change.ts";
import { PluginFault } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import { ownCallEnd } from "./leases.ts";
import { dropUnused, type Lifecycle, type ManagedPlugin, type Running } from "./lifecycle.ts";
import type { Loading } from "./load.ts";
import type { PluginTable } from "./plugin-table.ts";
import { replaceInstance } from "./reload.ts";

type Outcome = { status: PluginReloadStatus; error?: unknown };
/** `entry`: its config entry changed; `reload`: somebody asked, or a file of it changed. */
export type Cause = "entry" | "reload";

/** Changes of plugins while the gateway runs. */
export interface Transitions {
  /** Brings one plugin in line with config and disk. From inside a call of the same plugin it only begins when that call has ended. */
  run(managed: ManagedPlugin, cause: Cause): Promise<PluginReload>;
  /** A new instance of the same code, in turn with other changes of the plugin. */
  renew(managed: ManagedPlugin): Promise<void>;
  /** Resolves when no replaced instance is left to be stopped. */
  retired(): Promise<void>;
}

/** A plugin that is off by the operator's word, not for a fault of its own. */
const offCodes = new Set(["not-enabled", "not-allowed", "denied", "slot-taken"]);

export function createTransitions(
  table: PluginTable,
  { lifecycle, loading, host }: { lifecycle: Lifecycle; loading: Loading; host: LoaderHost },
): Transitions {
  const retiring = new Set<Promise<void>>();
  const retire = (work: Promise<void>) => {
    const done: Promise<void> = work.finally(() => void retiring.delete(done));
    retiring.add(done);
  };
  const drain = () => ({ limitMs: host.config().plugins.reload.drainMs, cut: table.stopping });

  const replace = async (managed: ManagedPlugin, code: "same" | "fresh"): Promise<Outcome> => {
    let obtained = code === "same" ? managed.code : undefined;
    try {
      obtained ??= await lifecycle.obtain(managed);
      if (table.stopping.aborted || !managed.current) return { status: "unchanged" };
      const isStopping = () => table.stopping.aborted;
      const deps = { lifecycle, contributions: host.contributions, isStopping, drain, settled: loading.settled, retire };
      const result = await replaceInstance(managed, obtained, deps);
      // One that somebody else takes down at this moment is told as that.
      if (!managed.current && "error" in result && managed.record.state !== "stopping")
        table.move(managed, "failed", { code: "reload-failed", reason: messageOf(result.error) });
      return result;
    } catch (error) {
      return { status: error instanceof PluginFault && error.code === "restart-required" ? "restart-required" : "failed", error };
    } finally {
      void dropUnused(managed, obtained);
    }
  };
  const switchOff = async (managed: ManagedPlugin, problem: NonNullable<Candidate["problem"]>): Promise<Outcome> => {
    const { current, record } = managed;
    const before = record.state;
    host.activation.remove(managed.id);
    loading.cancelRetry(managed);
    if (current) {
      table.move(managed, "stopping");
      const down = loading.unload(managed, current, "finish");
      // Nothing new reaches it any more. Only who holds what nobody else may hold is waited for.
      if (managed.candidate.manifest?.reload?.exclusive) await down;
      else retire(down);
    }
    table.move(managed, problem.state, problem);
    return { status: before === problem.state ? "unchanged" : "disabled" };
  };
  const switchOn = async (managed: ManagedPlugin, wasOff: boolean): Promise<Outcome> => {
    if (loading.mayWait(managed) && (wasOff || managed.record.state === "ready")) {
      if (!wasOff) return { status: "unchanged" };
      table.move(managed, "ready");
      loading.await(managed);
    } else await loading.load(managed);
    const { state, reason } = managed.record;
    return state === "failed" ? { status: "failed", error: reason } : { status: "enabled" };
  };
  const applyEntry = async (managed: ManagedPlugin, current: Running): Promise<Outcome> => {
    const entry = host.config().plugins.entries[managed.id] ?? {};
    const change = entryChange(managed.id, current.entry, entry, managed.candidate.manifest?.reload);
    if (change === "none") return { status: "unchanged" };
    if (change === "restart") return { status: "restart-required" };
    if (change === "replace") return replace(managed, "fresh");
    try {
      if (await lifecycle.offerConfig(managed, current)) return { status: "in-place" };
    } catch (error) {
      return { status: "failed", error };
    }
    return replace(managed, "same");
  };
  const bringInLine = async (managed: ManagedPlugin, cause: Cause): Promise<Outcome> => {
    const found = (await host.discoverOne(managed.id)) ?? (await goneOrUnreadable(managed.candidate));
    if (table.stopping.aborted || !table.all().includes(managed)) return { status: "unchanged" };
    const { problem } = found;
    // A running plugin that became unfit on disk serves on as it is; what switches it off is the operator's word.
    if (problem && managed.current && !offCodes.has(problem.code)) return { status: "failed", error: new Error(problem.reason) };
    const wasOff = managed.candidate.problem !== undefined;
    managed.candidate = found;
    const { manifest, origin } = found;
    Object.assign(managed.record, { origin, name: manifest?.name ?? managed.id, description: manifest?.description ?? "" });
    table.redraw();
    if (problem) return switchOff(managed, problem);
    if (!managed.current) return switchOn(managed, wasOff);
    return cause === "reload" ? replace(managed, "fresh") : applyEntry(managed, managed.current);
  };

  const run: Transitions["run"] = async (managed, cause) => {
    const { id, record } = managed;
    const inside = ownCallEnd(id);
    if (inside) {
      void inside.then(() => run(managed, cause));
      return { id, status: "scheduled", ms: 0 };
    }
    const started = performance.now();
    const { status, error } = await table.serial(managed, () => bringInLine(managed, cause));
    const message = error === undefined ? undefined : messageOf(error);
    if (status !== "unchanged") record.lastReload = { at: host.clock.now(), status, ...(message === undefined ? {} : { error: message }) };
    if (message !== undefined) host.logger.warn(`plugin "${id}": reload ${status}: ${message}`, { code: "reload-failed" });
    if (message !== undefined && managed.current) table.move(managed, record.state, { code: "reload-failed", reason: message });
    return { id, status, ...(message === undefined ? {} : { error: message }), ms: Math.round(performance.now() - started) };
  };
  return {
    run,
    renew: (managed) => table.serial(managed, async () => void (managed.current && (await replace(managed, "same")))),
    retired: async () => void (await Promise.all(retiring)),
  };
}

/** A manifest that cannot be read just now hides whose folder it is. */
async function goneOrUnreadable(candidate: Candidate): Promise<Candidate> {
  const isThere = await stat(candidate.root).then(
    () => true,
    () => false,
  );
  if (isThere)
    return { ...candidate, problem: { state: "blocked", code: "manifest-invalid", reason: "its svc.plugin.json cannot be read" } };
  return { ...candidate, problem: { state: "disabled", code: "not-enabled", reason: "its folder is gone" } };
}
