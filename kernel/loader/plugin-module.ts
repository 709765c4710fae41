import { realpath } from "node:fs/promises";
import { isInside } from "../../sdk/internal/files/inside.ts";
import type { PluginCandidate, PluginProblem } from "../../sdk/types/plugin-candidate.ts";
import { checkLocalImports } from "../sandbox/local-imports.ts";

/**
 * Judges a module besides the entry (a command, say) of a plugin that was found: the plugin may load, and the module and what it imports stand in its folder.
 * @param found candidates of one id
 * @param module absolute path, as the manifest says
 */
export async function checkPluginModule(
  found: readonly PluginCandidate[],
  module: string,
): Promise<{ file: string } | { problem: Pick<PluginProblem, "code" | "reason"> }> {
  const candidate = found.find((c) => c.problem === undefined) ?? found.find((c) => c.problem?.code !== "duplicate-id");
  if (!candidate) return { problem: { code: "manifest-invalid", reason: "no plugin of this id was found" } };
  if (candidate.problem) return { problem: candidate.problem };
  const file = await realpath(module).catch(() => undefined);
  if (file === undefined) return { problem: { code: "path-escape", reason: `its module ${module} is missing` } };
  if (!isInside(candidate.root, file))
    return { problem: { code: "path-escape", reason: `its module ${module} leads outside of its folder` } };
  const problem = await checkLocalImports(candidate.root, file);
  return problem ? { problem } : { file };
}
