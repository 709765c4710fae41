import type { PluginCandidate as Candidate, PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginState } from "../../sdk/types/plugin-record.ts";
import { hintFor } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import { outsideCalls } from "./leases.ts";
import type { ManagedPlugin } from "./lifecycle.ts";
import { createGraph, type PluginGraph } from "./needs.ts";
import { firstRecord } from "./plugin-summary.ts";

/** Every plugin that was found, with its state; who needs whom among those that may load. */
export interface PluginTable {
  all(): readonly ManagedPlugin[];
  get(id: string): ManagedPlugin | undefined;
  add(candidate: Candidate): ManagedPlugin;
  remove(managed: ManagedPlugin): void;
  /** After candidates have changed. */
  redraw(): void;
  graph(): PluginGraph;
  move(managed: ManagedPlugin, state: PluginState, why?: { code: string; reason: string; hint?: string | undefined }): void;
  /** Counts moves. */
  generation(): number;
  /** Runs a step on one plugin after those before it. */
  serial<T>(managed: ManagedPlugin, run: () => Promise<T>): Promise<T>;
  /** The gateway stops: nothing is begun any more, and nobody waits for calls under way. */
  readonly stopping: AbortSignal;
}

export function createPluginTable(candidates: readonly Candidate[], host: LoaderHost, stopping: AbortSignal): PluginTable {
  const all: ManagedPlugin[] = [];
  const byId = new Map<string, ManagedPlugin>();
  let graph: PluginGraph;
  let generation = 0;

  const table: PluginTable = {
    all: () => all,
    get: (id) => byId.get(id),
    add(candidate) {
      const record = firstRecord(candidate, host.clock.now());
      const managed: ManagedPlugin = { id: candidate.id, candidate, record, order: all.length, count: 0, tail: Promise.resolve() };
      all.push(managed);
      // A plugin with a problem takes nobody's place: its id may be a guess, or its winner stands there already.
      if (!candidate.problem || !byId.has(candidate.id)) byId.set(candidate.id, managed);
      for (const note of discoveryNotes(candidate)) host.logger.warn(`plugin "${candidate.id}" ${note}`, { root: candidate.root });
      return managed;
    },
    remove(managed) {
      if (byId.get(managed.id) === managed) byId.delete(managed.id);
      const at = all.indexOf(managed);
      if (at >= 0) all.splice(at, 1);
    },
    redraw() {
      const members = [...byId.values()].filter((s) => !s.candidate.problem);
      graph = createGraph(members.map(({ id, candidate: { version, manifest }, record }) => ({ id, version, manifest, record })));
    },
    graph: () => graph,
    move(managed, state, why) {
      const { record } = managed;
      const from = record.state;
      for (const key of ["code", "reason", "hint"] as const) delete record[key];
      const hint = why && (why.hint ?? hintFor(why.code, managed.id));
      Object.assign(record, { state, since: host.clock.now() }, why && { code: why.code, reason: why.reason }, hint && { hint });
      generation += 1;
      if (state === "failed" && !stopping.aborted) host.logger.error(`plugin "${managed.id}" failed: ${why?.reason}`, { code: why?.code });
      host.logger.debug("plugin state", () => ({ plugin: managed.id, from, to: state, ...why, instance: record.instance }));
      host.onState(record, from);
    },
    generation: () => generation,
    serial<T>(managed: ManagedPlugin, run: () => Promise<T>): Promise<T> {
      const done = managed.tail.then(() => outsideCalls(run));
      managed.tail = done.catch(() => undefined);
      return done;
    },
    stopping,
  };
  for (const candidate of candidates) table.add(candidate);
  table.redraw();
  return table;
}

/** Blocked by the operator's own word: no news. */
const wanted = new Set(["denied", "not-allowed"]);

/** Notes to log once about a discovered plugin: why it is kept out, or that it is deprecated. Pure. */
function discoveryNotes({ manifest, problem }: PluginCandidate): string[] {
  if (problem?.state === "blocked" && !wanted.has(problem.code)) return [`is blocked: ${problem.code}: ${problem.reason}`];
  return manifest?.deprecated && !problem ? [`is deprecated: ${manifest.deprecated}`] : [];
}
