import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withLimit } from "../../sdk/time.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord, PluginReload } from "../../sdk/types/plugin-record.ts";
import type { LoaderHost } from "./host.ts";
import type { ManagedPlugin } from "./managed-plugin.ts";
import { orderPlugins } from "./plugin-order.ts";
import { summarizePlugins } from "./plugin-summary.ts";
import { PluginTable } from "./plugin-table.ts";
import { type Cause, reconcilePlugin } from "./reconcile.ts";
import { createPluginWatch, type PluginWatch } from "./watch.ts";

/** Maximum wait of a stop for steps that do not heed it. */
const LAST_STEPS_MS = 5_000;

/** All plugins of one gateway: which loads when, what follows a change of one, and the end of all. */
export class Loader {
  readonly #host: LoaderHost;
  readonly #table: PluginTable;
  readonly #watch: PluginWatch;
  readonly #stopping = new AbortController();
  #elapsedMs = 0;
  #isBooted = false;

  constructor(candidates: readonly PluginCandidate[], host: LoaderHost) {
    this.#host = host;
    const stopping = this.#stopping.signal;
    this.#table = new PluginTable(candidates, { host, stopping, onActive: (plugin) => this.#follow(plugin) });
    this.#watch = createPluginWatch({
      config: host.config,
      candidates: () => this.#table.all().map(({ candidate }) => candidate),
      reload: async (id) => {
        const plugin = this.#table.get(id);
        if (plugin) await this.#reconcile(plugin, "reload");
      },
    });
  }

  /** Loads everything that may load; never rejects for a plugin's fault. */
  async loadAll(): Promise<void> {
    const started = performance.now();
    const { config, stateDir, stragglerMs = 3_000 } = this.#host;
    await rm(join(stateDir, "cache", "gen"), { recursive: true, force: true });
    const done = this.#loadInOrder();
    const { entries } = config().plugins;
    const needed = [...done].filter(([id]) => this.#table.get(id)?.candidate.origin === "bundled" || entries[id]?.required);
    const bundled = Promise.all(needed.map(([, loaded]) => loaded));
    await Promise.race([Promise.all(done.values()), bundled.then(() => sleep(stragglerMs, undefined, { ref: false }))]);
    this.#elapsedMs = Math.round(performance.now() - started);
    this.#isBooted = true;
    if (!this.#stopping.signal.aborted) this.#watch.sync();
  }

  /** Every plugin as it was found last. */
  candidates(): PluginCandidate[] {
    return this.#table.all().map(({ candidate }) => candidate);
  }

  records(): PluginRecord[] {
    return this.#table.records();
  }

  /** Finds a discovered plugin and its record; undefined for an unknown id. */
  find(id: string): { readonly candidate: PluginCandidate; readonly record: PluginRecord } | undefined {
    return this.#table.get(id);
  }

  /** `plugins: 14 active, 1 failed (irc: import-failed), 2 blocked; 812 ms` */
  summary(): string {
    return summarizePlugins(this.#table.records(), this.#elapsedMs);
  }

  /** Counts changes of any plugin's state. */
  generation(): number {
    return this.#table.generation();
  }

  /** Brings plugins in line with their changed `plugins.entries`: on, off, new config. An unknown id is looked for. */
  async applyEntries(ids: readonly string[]): Promise<PluginReload[]> {
    if (ids.some((id) => !this.#table.get(id)) && !this.#stopping.signal.aborted) await this.rescan();
    const known = ids.flatMap((id) => this.#table.get(id) ?? []).sort((a, b) => a.order - b.order);
    const results: PluginReload[] = [];
    for (const plugin of known) results.push(await this.#reconcile(plugin, "entry"));
    return results;
  }

  /** Replaces an instance with what stands on disk now; tries a failed plugin again. An unknown id is looked for. */
  async reload(id: string): Promise<PluginReload> {
    const plugin = this.#table.get(id);
    if (plugin) {
      const result = await this.#reconcile(plugin, "reload");
      if (!plugin.isRunning && plugin.record.state === "disabled") await this.rescan(); // its folder may be gone
      return result;
    }
    const started = performance.now();
    await this.rescan();
    const { state, reason } = this.#table.get(id)?.record ?? { state: "failed", reason: "no plugin of this id was found" };
    const ms = Math.round(performance.now() - started);
    return state === "failed" || state === "blocked" ? { id, status: "failed", error: reason ?? state, ms } : { id, status: "enabled", ms };
  }

  /** Looks for plugins again: new ones are loaded, vanished ones stopped. Resolves to the ids that came or went. */
  async rescan(): Promise<string[]> {
    const table = this.#table;
    const found = await this.#host.discover();
    const fresh = found.filter((c) => !table.get(c.id) && c.problem?.code !== "duplicate-id").map((c) => table.add(c));
    table.redraw();
    await Promise.all(fresh.filter(({ candidate }) => !candidate.problem).map((plugin) => plugin.serial(() => plugin.load())));
    const gone = table.all().filter(({ id }) => !found.some((c) => c.id === id));
    await Promise.all(gone.map((plugin) => this.#reconcile(plugin, "entry")));
    for (const plugin of gone) if (!plugin.isRunning && plugin.candidate.problem) table.remove(plugin);
    table.redraw();
    this.#watch.sync();
    return [...fresh, ...gone].map(({ id }) => id);
  }

  /** Plugins that cannot do without this one, as far as they may load. */
  dependents(id: string): string[] {
    return this.#table.graph().dependents(id);
  }

  /** Config paths that some manifest lists as secret, `*` for one segment. */
  secretPaths(): string[] {
    return this.#table.all().flatMap(({ candidate }) => candidate.manifest?.secrets?.map(({ path }) => path) ?? []);
  }

  /** Marks a running plugin as degraded; nothing of it is taken away. */
  degrade(id: string, code: string, reason: string): void {
    this.#table.get(id)?.degrade({ code, reason });
  }

  /** Takes a mark of this code off a degraded plugin. */
  restore(id: string, code: string): void {
    this.#table.get(id)?.restore(code);
  }

  /** Ends one plugin because its code threw where nobody could catch it. False when no such plugin runs. */
  async fail(id: string, error: unknown): Promise<boolean> {
    return (await this.#table.get(id)?.fail(error)) ?? false;
  }

  /** Watches plugin folders, or stops that, as the present config says. */
  syncWatch(): void {
    this.#watch.sync();
  }

  async stopAll(): Promise<void> {
    const table = this.#table;
    this.#stopping.abort();
    await this.#watch.dispose();
    for (const plugin of table.all().toSorted((a, b) => b.order - a.order)) await plugin.shutdown();
    // Steps that were in progress put nothing in place any more; what they began ends with them.
    await withLimit(Promise.all(table.all().map((plugin) => plugin.settled())), LAST_STEPS_MS, () => undefined);
    await table.retired();
  }

  #reconcile(plugin: ManagedPlugin, cause: Cause): Promise<PluginReload> {
    return reconcilePlugin(plugin, cause, { table: this.#table, host: this.#host });
  }

  /** Loads each plugin after those before it; one that is loaded on first use waits for that. */
  #loadInOrder(): Map<string, Promise<void>> {
    const table = this.#table;
    const able = table.all().filter(({ candidate }) => !candidate.problem);
    const { levels, cycles } = orderPlugins(able.map(({ id }) => ({ id, needs: table.graph().before(id) })));
    for (const [id, path] of cycles) table.get(id)?.move("failed", { code: "cycle", reason: path });
    const done = new Map<string, Promise<void>>();
    for (const [order, id] of levels.flat().entries()) {
      const plugin = table.get(id) as ManagedPlugin;
      plugin.order = order;
      if (plugin.mayWait) {
        plugin.loadOnUse();
        continue;
      }
      const before = table.graph().before(id);
      const loadedBefore = Promise.all(before.flatMap((other) => done.get(other) ?? []));
      done.set(
        id,
        loadedBefore.then(() => plugin.serial(() => plugin.load())),
      );
    }
    return done;
  }

  /** Loads the plugins that failed only for want of this one, and renews the ones that asked for it. */
  #follow({ id, candidate: { manifest } }: ManagedPlugin): void {
    const table = this.#table;
    const services = new Set([...(manifest?.provides ?? []), ...(manifest?.contributes?.services ?? [])]);
    for (const other of table.all()) {
      const isReady = () => other.isWaiting && !table.graph().unmet(other.id);
      if (other.isWaiting) void other.serial(async () => (isReady() ? other.load() : undefined));
      const wants = other.candidate.manifest?.reload?.restartOnServiceChange ?? [];
      if (this.#isBooted && other.isRunning && other.id !== id && wants.some((name) => services.has(name)))
        void other.serial(async () => (other.isRunning ? void (await other.replace("same")) : undefined));
    }
  }
}
