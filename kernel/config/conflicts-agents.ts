import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Conflict } from "./conflict.ts";

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
  conflicts.push(...multimodalConflicts(common, common, ["agents", "defaults"]), ...lengthConflicts(common, ["agents", "defaults"]));
  agents.list.forEach((agent, i) => {
    const own = agent.memorySearch;
    if (!own) return;
    conflicts.push(...multimodalConflicts(mergedChoice(common, own), own, ["agents", "list", i]));
    // An agent that changes nothing of the choice repeats no complaint about the defaults.
    const isOwn = own.provider !== undefined || own.model !== undefined || own.outputDimensionality !== undefined;
    if (isOwn) conflicts.push(...lengthConflicts(mergedChoice(common, own), ["agents", "list", i]));
  });
  return conflicts;
}

type Choice = Pick<MemorySearch, "provider" | "model" | "fallback" | "multimodal" | "outputDimensionality">;

/** The fields the rule is about, an agent's own first. */
function mergedChoice(common: MemorySearch | undefined, own: MemorySearch): Choice {
  return {
    provider: own.provider ?? common?.provider,
    model: own.model ?? common?.model,
    fallback: own.fallback ?? common?.fallback,
    outputDimensionality: own.outputDimensionality ?? common?.outputDimensionality,
    multimodal: { ...common?.multimodal, ...own.multimodal },
  };
}

/**
 * Images and sounds can only be embedded by the second generation of one vendor's model; no other adapter could stand in for it. The vendor is named, for
 * detection takes the first one with a key and would send it a model of another.
 */
function multimodalConflicts(choice: Choice | undefined, own: MemorySearch | undefined, base: PropertyKey[]): Conflict[] {
  // No kind of media on the list is the same as off.
  if (!choice?.multimodal?.enabled || choice.multimodal.modalities?.length === 0) return [];
  // An agent that changes nothing of the choice repeats no complaint about the defaults.
  const { enabled, modalities } = own?.multimodal ?? {};
  if (base.length > 2 && !own?.provider && !own?.model && !own?.fallback && (enabled ?? modalities) === undefined) return [];
  const path = [...base, "memorySearch", "multimodal", "enabled"];
  const conflicts: Conflict[] = [];
  const model = choice.model?.replace(/^.*\//, "");
  const isAble = choice.provider === "gemini" && /^gemini-embedding-2(-preview)?$/.test(model ?? "");
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

/** Lengths of vectors that are known before any adapter is loaded: the models of the specification. Adapters tell of all others when they are opened. */
const knownLengths: ReadonlyArray<{ provider: string; model: RegExp; isDefault: boolean; offered: readonly number[] }> = [
  { provider: "gemini", model: /^gemini-embedding-2(-preview)?$/, isDefault: false, offered: [768, 1_536, 3_072] },
  { provider: "bedrock", model: /^amazon\.titan-embed-text-v2(:|$)/, isDefault: true, offered: [256, 512, 1_024] },
];

function lengthConflicts(choice: Choice | undefined, base: PropertyKey[]): Conflict[] {
  const { provider, model, outputDimensionality: wanted } = choice ?? {};
  if (wanted === undefined) return [];
  const name = model?.replace(/^.*\//, "");
  const known = knownLengths.find((one) => one.provider === provider && (name === undefined ? one.isDefault : one.model.test(name)));
  if (!known || known.offered.includes(wanted)) return [];
  const list = known.offered.join(", ");
  return [
    {
      path: [...base, "memorySearch", "outputDimensionality"],
      message: `${name ?? `the model of "${provider}"`} gives vectors of ${list} numbers, not of ${wanted}`,
      hint: `choose one of ${list}, or unset it for the model's own`,
    },
  ];
}
