import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../sdk/errors.ts";
import { withLimit } from "../../sdk/limit.ts";
import type { PluginCandidate as Candidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord, PluginReload } from "../../sdk/types/plugin-record.ts";
import type { LoaderHost } from "./host.ts";
import { createLife, dropUnused, type Slot } from "./lifecycle.ts";
import { createLoading } from "./load.ts";
import { orderPlugins } from "./plugin-order.ts";
import { summarizePlugins } from "./plugin-summary.ts";
import { createSlots } from "./plugin-table.ts";
import { createChanges } from "./transitions.ts";
import { createPluginWatch } from "./watch.ts";

export interface Loader {
  /** Loads everything that may load; never rejects for a plugin's fault. */
  loadAll(): Promise<void>;
  records(): PluginRecord[];
  /** What was found of one plugin, and its record; undefined for an id that nobody has. */
  find(id: string): { readonly candidate: Candidate; readonly record: PluginRecord } | undefined;
  /** `plugins: 14 active, 1 failed (irc: import-failed), 2 blocked; 812 ms` */
  summary(): string;
  /** Counts changes of any plugin's state. */
  generation(): number;
  /** Brings plugins in line with their changed `plugins.entries`: on, off, new config. An id that nobody has yet is looked for. */
  applyEntries(ids: readonly string[]): Promise<PluginReload[]>;
  /** Replaces an instance with what stands on disk now; tries a failed plugin again. An id that nobody has yet is looked for. */
  reload(id: string): Promise<PluginReload>;
  /** Looks for plugins again: new ones are loaded, vanished ones stopped. Resolves to the ids that came or went. */
  rescan(): Promise<string[]>;
  /** Plugins that cannot do without this one, as far as they may load. */
  dependents(id: string): string[];
  /** Config paths that some manifest lists as secret, `*` for one segment. */
  secretPaths(): string[];
  /** Marks a running plugin as degraded; nothing of it is taken away. */
  degrade(id: string, code: string, reason: string): void;
  /** Takes a mark of this code off a degraded plugin. */
  restore(id: string, code: string): void;
  /** Ends one plugin because its code threw where nobody could catch it. False when no such plugin runs. */
  fail(id: string, error: unknown): Promise<boolean>;
  /** Watches plugin folders, or stops that, as the present config says. */
  syncWatch(): void;
  stopAll(): Promise<void>;
}

/** A stop waits this long for steps that do not heed it. */
const LAST_STEPS_MS = 5_000;

/** Life of all plugins of one gateway: order, loading, changing, and everything undone at the end. */
export function createLoader(candidates: readonly Candidate[], host: LoaderHost): Loader {
  const stopping = new AbortController();
  const slots = createSlots(candidates, host, stopping.signal);
  let elapsedMs = 0;
  let booted = false;

  const life = createLife(
    host,
    (slot) => {
      const last = slot.current?.instance.diagnostics.at(-1);
      if (last && slot.record.state === "active") slots.move(slot, "degraded", { code: last.code, reason: last.message });
    },
    stopping.signal,
  );
  const loading = createLoading(slots, { life, host, onUp: (slot) => follow(slot) });
  const changes = createChanges(slots, { life, loading, host });
  const watch = createPluginWatch({
    config: host.config,
    candidates: () => slots.all().map((s) => s.candidate),
    reload: async (id) => {
      const slot = slots.get(id);
      if (slot) await changes.run(slot, "reload");
    },
  });
  /** Starts the plugins that failed only for want of this one, and renews the ones that asked for it. */
  const follow = ({ id, candidate: { manifest } }: Slot) => {
    const services = new Set([...(manifest?.provides ?? []), ...(manifest?.contributes?.services ?? [])]);
    for (const other of slots.all()) {
      if (isWaiting(other))
        void slots.serial(other, async () => (isWaiting(other) && !slots.graph().unmet(other.id) ? loading.load(other) : undefined));
      const wants = other.candidate.manifest?.reload?.restartOnServiceChange ?? [];
      if (booted && other.current && other.id !== id && wants.some((name) => services.has(name))) void changes.renew(other);
    }
  };

  const loadInOrder = (): Map<string, Promise<void>> => {
    const able = slots.all().filter((s) => !s.candidate.problem);
    const { levels, cycles } = orderPlugins(able.map(({ id }) => ({ id, needs: slots.graph().before(id) })));
    for (const [id, path] of cycles) slots.move(slots.get(id) as Slot, "failed", { code: "cycle", reason: path });
    const done = new Map<string, Promise<void>>();
    for (const [order, id] of levels.flat().entries()) {
      const slot = slots.get(id) as Slot;
      slot.order = order;
      if (loading.mayWait(slot)) loading.await(slot);
      else {
        const before = slots
          .graph()
          .before(id)
          .flatMap((other) => done.get(other) ?? []);
        done.set(
          id,
          Promise.all(before).then(() => slots.serial(slot, () => loading.load(slot))),
        );
      }
    }
    return done;
  };
  const forget = (slot: Slot) => {
    const { code } = slot;
    slot.code = undefined;
    slots.remove(slot);
    void dropUnused(slot, code);
  };
  const rescan = async (): Promise<string[]> => {
    const found = await host.discover();
    const fresh = found.filter((c) => !slots.get(c.id) && c.problem?.code !== "duplicate-id").map(slots.add);
    slots.redraw();
    await Promise.all(fresh.filter((s) => !s.candidate.problem).map((s) => slots.serial(s, () => loading.load(s))));
    const gone = slots.all().filter((s) => !found.some((c) => c.id === s.id));
    await Promise.all(gone.map((s) => changes.run(s, "entry")));
    for (const slot of gone) if (!slot.current && slot.candidate.problem) forget(slot);
    slots.redraw();
    watch.sync();
    return [...fresh, ...gone].map((s) => s.id);
  };

  return {
    async loadAll() {
      const started = performance.now();
      await rm(join(host.stateDir, "cache", "gen"), { recursive: true, force: true });
      const done = loadInOrder();
      const { entries } = host.config().plugins;
      const needed = [...done].filter(([id]) => slots.get(id)?.candidate.origin === "bundled" || entries[id]?.required);
      const bundled = Promise.all(needed.map(([, p]) => p));
      await Promise.race([Promise.all(done.values()), bundled.then(() => sleep(host.stragglerMs ?? 3_000, undefined, { ref: false }))]);
      elapsedMs = Math.round(performance.now() - started);
      booted = true;
      if (!stopping.signal.aborted) watch.sync();
    },
    records: () => slots.all().map((s) => s.record),
    find: slots.get,
    summary: () =>
      summarizePlugins(
        slots.all().map((s) => s.record),
        elapsedMs,
      ),
    generation: slots.generation,
    async applyEntries(ids) {
      if (ids.some((id) => !slots.get(id)) && !stopping.signal.aborted) await rescan();
      const known = ids.flatMap((id) => slots.get(id) ?? []).sort((a, b) => a.order - b.order);
      const results: PluginReload[] = [];
      for (const slot of known) results.push(await changes.run(slot, "entry"));
      return results;
    },
    async reload(id) {
      const slot = slots.get(id);
      if (slot) {
        const result = await changes.run(slot, "reload");
        if (!slot.current && slot.record.state === "disabled") await rescan(); // its folder may be gone
        return result;
      }
      const started = performance.now();
      await rescan();
      const { state, reason } = slots.get(id)?.record ?? { state: "failed", reason: "no plugin of this id was found" };
      const ms = Math.round(performance.now() - started);
      return state === "failed" || state === "blocked"
        ? { id, status: "failed", error: reason ?? state, ms }
        : { id, status: "enabled", ms };
    },
    rescan,
    dependents: (id) => slots.graph().dependents(id),
    secretPaths: () => slots.all().flatMap((s) => s.candidate.manifest?.secrets?.map(({ path }) => path) ?? []),
    degrade(id, code, reason) {
      const slot = slots.get(id);
      if (slot?.record.state === "active" || slot?.record.state === "degraded") slots.move(slot, "degraded", { code, reason });
    },
    restore(id, code) {
      const slot = slots.get(id);
      if (slot?.current && slot.record.state === "degraded" && slot.record.code === code) loading.unmark(slot);
    },
    async fail(id, error) {
      const slot = slots.get(id);
      const { pending, current } = slot ?? {};
      // Out of the registries in this turn. What comes after it goes in turn with other steps of the plugin.
      if (slot && current) slots.move(slot, "stopping");
      const down = slot && current ? loading.takeDown(slot, current, "cut") : undefined;
      await pending?.dispose(); // its setup fails by that, and is told as failed
      if (!slot || !down) return pending !== undefined;
      await slots.serial(slot, async () => {
        await down;
        if (!slot.current && slot.record.state === "stopping") slots.move(slot, "failed", { code: "uncaught", reason: messageOf(error) });
      });
      return true;
    },
    syncWatch: watch.sync,
    async stopAll() {
      stopping.abort();
      await watch.dispose();
      for (const slot of slots.all().toSorted((a, b) => b.order - a.order)) {
        loading.cancelRetry(slot);
        await slot.pending?.dispose();
        if (!slot.current) continue;
        slots.move(slot, "stopping");
        await loading.takeDown(slot, slot.current, "cut");
        slots.move(slot, "disposed");
      }
      // Steps that were under way put nothing in place any more; what they began ends with them.
      await withLimit(Promise.all(slots.all().map((s) => s.tail)), LAST_STEPS_MS, () => undefined);
      await changes.retired();
    },
  };
}

function isWaiting({ candidate, record, current }: Slot): boolean {
  return (
    !candidate.problem &&
    !current &&
    record.state === "failed" &&
    (record.code === "dependency-failed" || record.code === "missing-dependency")
  );
}
