import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";

/** Rank of a root when two hold the same id; smaller is stronger. A file dropped into a workspace can never stand in for a bundled plugin. */
function originRank({ origin, installed }: Pick<PluginCandidate, "origin" | "installed">): number {
  if (origin === "config") return 1;
  if (origin === "global") return installed ? 2 : 5;
  return origin === "bundled" ? 3 : 4;
}

/**
 * Candidates in load order of their roots (rank, then id; of two config paths the first named one), every loser blocked with the winner's
 * name. One whose id is only guessed, because its manifest cannot be read, beats nobody.
 */
export function resolvePrecedence(found: readonly PluginCandidate[]): PluginCandidate[] {
  const ranked = found.toSorted((a, b) => originRank(a) - originRank(b) || compare(a.id, b.id));
  const winners = new Map<string, PluginCandidate>();
  return ranked.map((candidate) => {
    if (candidate.problem?.code === "manifest-invalid") return candidate;
    const winner = winners.get(candidate.id);
    if (winner) return { ...candidate, problem: duplicateOf(winner) };
    winners.set(candidate.id, candidate);
    return candidate;
  });
}

/** Name of a root in messages. */
function originLabel({ origin, installed }: Pick<PluginCandidate, "origin" | "installed">): string {
  return origin === "global" && installed ? "installed" : origin;
}

function duplicateOf(winner: PluginCandidate): NonNullable<PluginCandidate["problem"]> {
  return {
    state: "blocked",
    code: "duplicate-id",
    reason: `the ${originLabel(winner)} plugin of this id wins (${winner.root})`,
    hint: "remove one of the two, or give it another id",
  };
}

/** By code units: the same order in every locale. */
function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
