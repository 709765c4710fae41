import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../sdk/errors.ts";
import { withLimit } from "../../sdk/time.ts";
import type { PluginCandidate as Candidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord, PluginReload } from "../../sdk/types/plugin-record.ts";
import type { LoaderHost } from "./host.ts";
import { createLifecycle, dropUnused, type ManagedPlugin } from "./lifecycle.ts";
import { createLoading } from "./load.ts";
import { orderPlugins } from "./plugin-order.ts";
import { summarizePlugins } from "./plugin-summary.ts";
import { createPluginTable } from "./plugin-table.ts";
import { createTransitions } from "./transitions.ts";
import { createPluginWatch } from "./watch.ts";

export interface Loader {
  /** Loads everything that may load; never rejects for a plugin's fault. */
  loadAll(): Promise<void>;
  records(): PluginRecord[];
  /** Finds a discovered plugin and its record; undefined for an unknown id. */
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
  const table = createPluginTable(candidates, host, stopping.signal);
  let elapsedMs = 0;
  let booted = false;

  const lifecycle = createLifecycle(
    host,
    (managed) => {
      const last = managed.current?.instance.diagnostics.at(-1);
      if (last && managed.record.state === "active") table.move(managed, "degraded", { code: last.code, reason: last.message });
    },
    stopping.signal,
  );
  const loading = createLoading(table, { lifecycle, host, onUp: (managed) => follow(managed) });
  const transitions = createTransitions(table, { lifecycle, loading, host });
  const watch = createPluginWatch({
    config: host.config,
    candidates: () => table.all().map((s) => s.candidate),
    reload: async (id) => {
      const managed = table.get(id);
      if (managed) await transitions.run(managed, "reload");
    },
  });
  /** Starts the plugins that failed only for want of this one, and renews the ones that asked for it. */
  const follow = ({ id, candidate: { manifest } }: ManagedPlugin) => {
    const services = new Set([...(manifest?.provides ?? []), ...(manifest?.contributes?.services ?? [])]);
    for (const other of table.all()) {
      if (isWaiting(other))
        void table.serial(other, async () => (isWaiting(other) && !table.graph().unmet(other.id) ? loading.load(other) : undefined));
      const wants = other.candidate.manifest?.reload?.restartOnServiceChange ?? [];
      if (booted && other.current && other.id !== id && wants.some((name) => services.has(name))) void transitions.renew(other);
    }
  };

  const loadInOrder = (): Map<string, Promise<void>> => {
    const able = table.all().filter((s) => !s.candidate.problem);
    const { levels, cycles } = orderPlugins(able.map(({ id }) => ({ id, needs: table.graph().before(id) })));
    for (const [id, path] of cycles) table.move(table.get(id) as ManagedPlugin, "failed", { code: "cycle", reason: path });
    const done = new Map<string, Promise<void>>();
    for (const [order, id] of levels.flat().entries()) {
      const managed = table.get(id) as ManagedPlugin;
      managed.order = order;
      if (loading.mayWait(managed)) loading.await(managed);
      else {
        const before = table
          .graph()
          .before(id)
          .flatMap((other) => done.get(other) ?? []);
        done.set(
          id,
          Promise.all(before).then(() => table.serial(managed, () => loading.load(managed))),
        );
      }
    }
    return done;
  };
  const forget = (managed: ManagedPlugin) => {
    const { code } = managed;
    managed.code = undefined;
    table.remove(managed);
    void dropUnused(managed, code);
  };
  const rescan = async (): Promise<string[]> => {
    const found = await host.discover();
    const fresh = found.filter((c) => !table.get(c.id) && c.problem?.code !== "duplicate-id").map(table.add);
    table.redraw();
    await Promise.all(fresh.filter((s) => !s.candidate.problem).map((s) => table.serial(s, () => loading.load(s))));
    const gone = table.all().filter((s) => !found.some((c) => c.id === s.id));
    await Promise.all(gone.map((s) => transitions.run(s, "entry")));
    for (const managed of gone) if (!managed.current && managed.candidate.problem) forget(managed);
    table.redraw();
    watch.sync();
    return [...fresh, ...gone].map((s) => s.id);
  };

  return {
    async loadAll() {
      const started = performance.now();
      await rm(join(host.stateDir, "cache", "gen"), { recursive: true, force: true });
      const done = loadInOrder();
      const { entries } = host.config().plugins;
      const needed = [...done].filter(([id]) => table.get(id)?.candidate.origin === "bundled" || entries[id]?.required);
      const bundled = Promise.all(needed.map(([, p]) => p));
      await Promise.race([Promise.all(done.values()), bundled.then(() => sleep(host.stragglerMs ?? 3_000, undefined, { ref: false }))]);
      elapsedMs = Math.round(performance.now() - started);
      booted = true;
      if (!stopping.signal.aborted) watch.sync();
    },
    records: () => table.all().map((s) => s.record),
    find: table.get,
    summary: () =>
      summarizePlugins(
        table.all().map((s) => s.record),
        elapsedMs,
      ),
    generation: table.generation,
    async applyEntries(ids) {
      if (ids.some((id) => !table.get(id)) && !stopping.signal.aborted) await rescan();
      const known = ids.flatMap((id) => table.get(id) ?? []).sort((a, b) => a.order - b.order);
      const results: PluginReload[] = [];
      for (const managed of known) results.push(await transitions.run(managed, "entry"));
      return results;
    },
    async reload(id) {
      const managed = table.get(id);
      if (managed) {
        const result = await transitions.run(managed, "reload");
        if (!managed.current && managed.record.state === "disabled") await rescan(); // its folder may be gone
        return result;
      }
      const started = performance.now();
      await rescan();
      const { state, reason } = table.get(id)?.record ?? { state: "failed", reason: "no plugin of this id was found" };
      const ms = Math.round(performance.now() - started);
      return state === "failed" || state === "blocked"
        ? { id, status: "failed", error: reason ?? state, ms }
        : { id, status: "enabled", ms };
    },
    rescan,
    dependents: (id) => table.graph().dependents(id),
    secretPaths: () => table.all().flatMap((s) => s.candidate.manifest?.secrets?.map(({ path }) => path) ?? []),
    degrade(id, code, reason) {
      const managed = table.get(id);
      if (managed?.record.state === "active" || managed?.record.state === "degraded") table.move(managed, "degraded", { code, reason });
    },
    restore(id, code) {
      const managed = table.get(id);
      if (managed?.current && managed.record.state === "degraded" && managed.record.code === code) loading.unmark(managed);
    },
    async fail(id, error) {
      const managed = table.get(id);
      const { pending, current } = managed ?? {};
      // Out of the registries in this turn. What comes after it goes in turn with other steps of the plugin.
      if (managed && current) table.move(managed, "stopping");
      const down = managed && current ? loading.unload(managed, current, "cut") : undefined;
      await pending?.dispose(); // its setup fails by that, and is told as failed
      if (!managed || !down) return pending !== undefined;
      await table.serial(managed, async () => {
        await down;
        if (!managed.current && managed.record.state === "stopping")
          table.move(managed, "failed", { code: "uncaught", reason: messageOf(error) });
      });
      return true;
    },
    syncWatch: watch.sync,
    async stopAll() {
      stopping.abort();
      await watch.dispose();
      for (const managed of table.all().toSorted((a, b) => b.order - a.order)) {
        loading.cancelRetry(managed);
        await managed.pending?.dispose();
        if (!managed.current) continue;
        table.move(managed, "stopping");
        await loading.unload(managed, managed.current, "cut");
        table.move(managed, "disposed");
      }
      // Steps that were under way put nothing in place any more; what they began ends with them.
      await withLimit(Promise.all(table.all().map((s) => s.tail)), LAST_STEPS_MS, () => undefined);
      await transitions.retired();
    },
  };
}

function isWaiting({ candidate, record, current }: ManagedPlugin): boolean {
  return (
    !candidate.problem &&
    !current &&
    record.state === "failed" &&
    (record.code === "dependency-failed" || record.code === "missing-dependency")
  );
}
