import { stat } from "node:fs/promises";
import { messageOf } from "../../sdk/errors.ts";
import type { PluginCandidate as Candidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginReload, PluginReloadStatus } from "../../sdk/types/plugin-record.ts";
import { entryChange } from "./entry-change.ts";
import { PluginFault } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import { ownCallEnd } from "./leases.ts";
import { dropUnused, type Life, type Running, type Slot } from "./lifecycle.ts";
import type { Loading } from "./load.ts";
import type { Slots } from "./plugin-table.ts";
import { replaceInstance } from "./reload.ts";

type Outcome = { status: PluginReloadStatus; error?: unknown };
/** `entry`: its config entry changed; `reload`: somebody asked, or a file of it changed. */
export type Cause = "entry" | "reload";

/** Changes of plugins while the gateway runs. */
export interface Changes {
  /** Brings one plugin in line with config and disk. From inside a call of the same plugin it only begins when that call has ended. */
  run(slot: Slot, cause: Cause): Promise<PluginReload>;
  /** A new instance of the same code, in turn with other changes of the plugin. */
  renew(slot: Slot): Promise<void>;
  /** Resolves when no replaced instance is left to be stopped. */
  retired(): Promise<void>;
}

/** A plugin that is off by the operator's word, not for a fault of its own. */
const offCodes = new Set(["not-enabled", "not-allowed", "denied", "slot-taken"]);

export function createChanges(slots: Slots, { life, loading, host }: { life: Life; loading: Loading; host: LoaderHost }): Changes {
  const retiring = new Set<Promise<void>>();
  const retire = (work: Promise<void>) => {
    const done: Promise<void> = work.finally(() => void retiring.delete(done));
    retiring.add(done);
  };
  const drain = () => ({ limitMs: host.config().plugins.reload.drainMs, cut: slots.stopping });

  const replace = async (slot: Slot, code: "same" | "fresh"): Promise<Outcome> => {
    let obtained = code === "same" ? slot.code : undefined;
    try {
      obtained ??= await life.obtain(slot);
      if (slots.stopping.aborted || !slot.current) return { status: "unchanged" };
      const isStopping = () => slots.stopping.aborted;
      const deps = { life, contributions: host.contributions, isStopping, drain, settled: loading.settled, retire };
      const result = await replaceInstance(slot, obtained, deps);
      // One that somebody else takes down at this moment is told as that.
      if (!slot.current && "error" in result && slot.record.state !== "stopping")
        slots.move(slot, "failed", { code: "reload-failed", reason: messageOf(result.error) });
      return result;
    } catch (error) {
      return { status: error instanceof PluginFault && error.code === "restart-required" ? "restart-required" : "failed", error };
    } finally {
      void dropUnused(slot, obtained);
    }
  };
  const switchOff = async (slot: Slot, problem: NonNullable<Candidate["problem"]>): Promise<Outcome> => {
    const { current, record } = slot;
    const before = record.state;
    host.activation.remove(slot.id);
    loading.cancelRetry(slot);
    if (current) {
      slots.move(slot, "stopping");
      const down = loading.takeDown(slot, current, "finish");
      // Nothing new reaches it any more. Only who holds what nobody else may hold is waited for.
      if (slot.candidate.manifest?.reload?.exclusive) await down;
      else retire(down);
    }
    slots.move(slot, problem.state, problem);
    return { status: before === problem.state ? "unchanged" : "disabled" };
  };
  const switchOn = async (slot: Slot, wasOff: boolean): Promise<Outcome> => {
    if (loading.mayWait(slot) && (wasOff || slot.record.state === "ready")) {
      if (!wasOff) return { status: "unchanged" };
      slots.move(slot, "ready");
      loading.await(slot);
    } else await loading.load(slot);
    const { state, reason } = slot.record;
    return state === "failed" ? { status: "failed", error: reason } : { status: "enabled" };
  };
  const applyEntry = async (slot: Slot, current: Running): Promise<Outcome> => {
    const entry = host.config().plugins.entries[slot.id] ?? {};
    const change = entryChange(slot.id, current.entry, entry, slot.candidate.manifest?.reload);
    if (change === "none") return { status: "unchanged" };
    if (change === "restart") return { status: "restart-required" };
    if (change === "replace") return replace(slot, "fresh");
    try {
      if (await life.offerConfig(slot, current)) return { status: "in-place" };
    } catch (error) {
      return { status: "failed", error };
    }
    return replace(slot, "same");
  };
  const bringInLine = async (slot: Slot, cause: Cause): Promise<Outcome> => {
    const found = (await host.discoverOne(slot.id)) ?? (await goneOrUnreadable(slot.candidate));
    if (slots.stopping.aborted || !slots.all().includes(slot)) return { status: "unchanged" };
    const { problem } = found;
    // A running plugin that became unfit on disk serves on as it is; what switches it off is the operator's word.
    if (problem && slot.current && !offCodes.has(problem.code)) return { status: "failed", error: new Error(problem.reason) };
    const wasOff = slot.candidate.problem !== undefined;
    slot.candidate = found;
    const { manifest, origin } = found;
    Object.assign(slot.record, { origin, name: manifest?.name ?? slot.id, description: manifest?.description ?? "" });
    slots.redraw();
    if (problem) return switchOff(slot, problem);
    if (!slot.current) return switchOn(slot, wasOff);
    return cause === "reload" ? replace(slot, "fresh") : applyEntry(slot, slot.current);
  };

  const run: Changes["run"] = async (slot, cause) => {
    const { id, record } = slot;
    const inside = ownCallEnd(id);
    if (inside) {
      void inside.then(() => run(slot, cause));
      return { id, status: "scheduled", ms: 0 };
    }
    const started = performance.now();
    const { status, error } = await slots.serial(slot, () => bringInLine(slot, cause));
    const message = error === undefined ? undefined : messageOf(error);
    if (status !== "unchanged") record.lastReload = { at: host.clock.now(), status, ...(message === undefined ? {} : { error: message }) };
    if (message !== undefined) host.logger.warn(`plugin "${id}": reload ${status}: ${message}`, { code: "reload-failed" });
    if (message !== undefined && slot.current) slots.move(slot, record.state, { code: "reload-failed", reason: message });
    return { id, status, ...(message === undefined ? {} : { error: message }), ms: Math.round(performance.now() - started) };
  };
  return {
    run,
    renew: (slot) => slots.serial(slot, async () => void (slot.current && (await replace(slot, "same")))),
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
