import type { Conflict } from "./conflict.ts";
import type { SvcConfig } from "./root.ts";

type MemorySearch = NonNullable<SvcConfig["agents"]["defaults"]["memorySearch"]>;

/** Rules within `agents`. */
export function agentConflicts({ agents }: SvcConfig): Conflict[] {
  const conflicts: Conflict[] = [];
  const ids = new Set<string>();
  agents.list.forEach((agent, i) => {
    if (ids.has(agent.id)) {
      conflicts.push({ path: ["agents", "list", i, "id"], message: `agent id "${agent.id}" is used twice`, hint: "rename one of the two" });
    }
    ids.add(agent.id);
  });
  const defaults = agents.list.flatMap((agent, i) => (agent.default ? [i] : []));
  for (const i of defaults.slice(1)) {
    conflicts.push({
      path: ["agents", "list", i, "default"],
      message: "only one agent may be the default",
      hint: `agent "${agents.list[defaults[0] as number]?.id}" is it already`,
    });
  }
  const common = agents.defaults.memorySearch;
  conflicts.push(...multimodalConflicts(common, common, ["agents", "defaults"]));
  agents.list.forEach((agent, i) => {
    const own = agent.memorySearch;
    if (own) conflicts.push(...multimodalConflicts(mergedChoice(common, own), own, ["agents", "list", i]));
  });
  return conflicts;
}

type Choice = Pick<MemorySearch, "provider" | "model" | "fallback" | "multimodal">;

/** The fields the rule is about, an agent's own first. */
function mergedChoice(common: MemorySearch | undefined, own: MemorySearch): Choice {
  return {
    provider: own.provider ?? common?.provider,
    model: own.model ?? common?.model,
    fallback: own.fallback ?? common?.fallback,
    multimodal: { ...common?.multimodal, ...own.multimodal },
  };
}

/** Images and sounds can only be embedded by the second generation of one vendor's model; no other adapter could stand in for it. */
function multimodalConflicts(choice: Choice | undefined, own: MemorySearch | undefined, base: PropertyKey[]): Conflict[] {
  if (!choice?.multimodal?.enabled) return [];
  // An agent that changes nothing of the choice repeats no complaint about the defaults.
  if (base.length > 2 && !own?.provider && !own?.model && !own?.fallback && own?.multimodal?.enabled === undefined) return [];
  const path = [...base, "memorySearch", "multimodal", "enabled"];
  const conflicts: Conflict[] = [];
  const model = choice.model?.replace(/^.*\//, "");
  const isAble = (choice.provider === undefined || choice.provider === "gemini") && /^gemini-embedding-2(-preview)?$/.test(model ?? "");
  if (!isAble) {
    conflicts.push({
      path,
      message: 'multimodal indexing needs a model that embeds images and sounds: provider "gemini" with model "gemini-embedding-2-preview"',
      hint: 'set memorySearch.provider: "gemini" and memorySearch.model: "gemini-embedding-2-preview"',
    });
  }
  if (choice.fallback !== undefined && choice.fallback !== "none") {
    conflicts.push({
      path,
      message: `multimodal indexing needs memorySearch.fallback "none", and it is "${choice.fallback}"`,
      hint: "vectors of another model cannot be compared with those of images",
    });
  }
  return conflicts;
}
