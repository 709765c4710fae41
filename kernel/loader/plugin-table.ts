import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord } from "../../sdk/types/plugin-record.ts";
import type { LoaderHost } from "./host.ts";
import { ManagedPlugin, type Peers } from "./managed-plugin.ts";
import { createGraph, type PluginGraph } from "./needs.ts";

/** Every plugin that was found; who needs whom among those that may load. */
export class PluginTable implements Peers {
  /** The gateway stops: nothing begins any more, and nobody waits for calls in progress. */
  readonly stopping: AbortSignal;
  readonly onActive: Peers["onActive"];
  readonly #host: LoaderHost;
  readonly #all: ManagedPlugin[] = [];
  readonly #byId = new Map<string, ManagedPlugin>();
  readonly #retiring = new Set<Promise<void>>();
  #graph: PluginGraph = createGraph([]);
  #moves = 0;

  constructor(
    candidates: readonly PluginCandidate[],
    { host, stopping, onActive }: { host: LoaderHost; stopping: AbortSignal; onActive: Peers["onActive"] },
  ) {
    this.#host = host;
    this.stopping = stopping;
    this.onActive = onActive;
    for (const candidate of candidates) this.add(candidate);
    this.redraw();
  }

  all(): readonly ManagedPlugin[] {
    return this.#all;
  }

  records(): PluginRecord[] {
    return this.#all.map(({ record }) => record);
  }

  get(id: string): ManagedPlugin | undefined {
    return this.#byId.get(id);
  }

  has(plugin: ManagedPlugin): boolean {
    return this.#all.includes(plugin);
  }

  add(candidate: PluginCandidate): ManagedPlugin {
    const plugin = new ManagedPlugin(candidate, this.#all.length, { host: this.#host, peers: this });
    this.#all.push(plugin);
    // A plugin with a problem takes nobody's place: its id may be a guess, or its winner stands there already.
    if (!candidate.problem || !this.#byId.has(plugin.id)) this.#byId.set(plugin.id, plugin);
    for (const note of discoveryNotes(candidate)) this.#host.logger.warn(`plugin "${plugin.id}" ${note}`, { root: candidate.root });
    return plugin;
  }

  remove(plugin: ManagedPlugin): void {
    if (this.#byId.get(plugin.id) === plugin) this.#byId.delete(plugin.id);
    const at = this.#all.indexOf(plugin);
    if (at >= 0) this.#all.splice(at, 1);
    plugin.forget();
  }

  /** Reads the graph again, after candidates have changed. */
  redraw(): void {
    const members = [...this.#byId.values()].filter(({ candidate }) => !candidate.problem);
    this.#graph = createGraph(members.map(({ id, candidate: { version, manifest }, record }) => ({ id, version, manifest, record })));
  }

  graph(): PluginGraph {
    return this.#graph;
  }

  onMove(): void {
    this.#moves += 1;
  }

  /** Counts changes of any plugin's state. */
  generation(): number {
    return this.#moves;
  }

  retire(work: Promise<void>): void {
    const done: Promise<void> = work.finally(() => void this.#retiring.delete(done));
    this.#retiring.add(done);
  }

  /** Resolves when no replaced instance is left to be stopped. */
  async retired(): Promise<void> {
    await Promise.all(this.#retiring);
  }
}

/** Blocked by the operator's own word: no news. */
const wanted = new Set(["denied", "not-allowed"]);

/** Notes to log once about a discovered plugin: why it is kept out, or that it is deprecated. Pure. */
function discoveryNotes({ manifest, problem }: PluginCandidate): string[] {
  if (problem?.state === "blocked" && !wanted.has(problem.code)) return [`is blocked: ${problem.code}: ${problem.reason}`];
  return manifest?.deprecated && !problem ? [`is deprecated: ${manifest.deprecated}`] : [];
}
