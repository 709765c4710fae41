import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";

/** Blocked by the operator's own word: no news. */
const wanted = new Set(["denied", "not-allowed"]);

/** Notes to log once about a discovered plugin: why it is kept out, or that it is deprecated. Pure. */
export function discoveryNotes({ manifest, problem }: PluginCandidate): string[] {
  if (problem?.state === "blocked" && !wanted.has(problem.code)) return [`is blocked: ${problem.code}: ${problem.reason}`];
  return manifest?.deprecated && !problem ? [`is deprecated: ${manifest.deprecated}`] : [];
}
