import type { Manifest } from "../../sdk/types/manifest.ts";

/** Facts about a plugin that ordering needs. */
export interface GraphNode {
  id: string;
  /** Ids that must have settled first, whether they are needed or only ordered before; unknown ids are ignored. */
  needs: string[];
}

export interface Graph {
  /** Levels in load order; members of one level do not depend on each other. */
  levels: string[][];
  /** Members of a cycle with its path, `a → b → a`. */
  cycles: Map<string, string>;
}

/** Kahn's algorithm by levels; input order decides ties, so a boot is reproducible. A cycle takes out exactly its members and who needs them. */
export function orderPlugins(nodes: GraphNode[]): Graph {
  const present = new Set(nodes.map((n) => n.id));
  const waiting = new Map(nodes.map((n) => [n.id, new Set(n.needs.filter((d) => present.has(d) && d !== n.id))]));
  const levels: string[][] = [];
  const cycles = new Map<string, string>();
  while (waiting.size > 0) {
    const level = [...waiting].filter(([, deps]) => [...deps].every((d) => !waiting.has(d))).map(([id]) => id);
    if (level.length === 0) {
      const path = findCycle(waiting);
      for (const id of path) {
        cycles.set(id, [...path, path[0]].join(" → "));
        waiting.delete(id);
      }
      continue;
    }
    for (const id of level) waiting.delete(id);
    levels.push(level);
  }
  return { levels, cycles };
}

/** Facts about a plugin that the selection needs. */
interface Requiring {
  id: string;
  manifest: Manifest | undefined;
}

/** The named plugins and, transitively, who provides what they require. */
export function withRequirements<T extends Requiring>(found: readonly T[], only: readonly string[]): T[] {
  const wanted = new Set(only);
  for (let size = 0; size !== wanted.size; ) {
    size = wanted.size;
    for (const c of found.filter((f) => wanted.has(f.id))) {
      const services = (c.manifest?.requires ?? []).filter((r) => !r.endsWith("?"));
      for (const p of found) if (p.manifest?.provides?.some((s) => services.includes(s))) wanted.add(p.id);
      for (const id of Object.keys(c.manifest?.dependencies ?? {})) wanted.add(id);
    }
  }
  return found.filter((c) => wanted.has(c.id));
}

/** Follows dependencies among nodes that all wait for each other until one repeats. */
function findCycle(waiting: Map<string, Set<string>>): string[] {
  const path: string[] = [];
  let at = waiting.keys().next().value as string;
  while (!path.includes(at)) {
    path.push(at);
    at = [...(waiting.get(at) as Set<string>)].find((d) => waiting.has(d)) as string;
  }
  return path.slice(path.indexOf(at));
}
