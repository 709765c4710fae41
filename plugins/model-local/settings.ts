import { type LocalModelSource, type LocalSampling, type ModelInfo, type SvcConfig, z } from "svc/sdk";
import { isForLocalRuntime, modelParamsOf, parseModelSource } from "svc/sdk/internal";

/** One model of the config. */
export interface LocalModelSettings {
  id: string;
  source: LocalModelSource;
  contextWindow: number;
  maxTokens?: number;
  reasoning: boolean;
  /** Sampling where a request does not say. */
  params: LocalSampling;
  info: ModelInfo;
}

export interface LocalSettings {
  firstAnswerMs: number;
  models: LocalModelSettings[];
  /** Parts of the config that are not used, and why. */
  problems: string[];
}

/** Memory for a conversation grows with it; agents with many tools want more. */
const CONTEXT_WINDOW = 8_192;
/** A slow machine reads a long prompt for minutes. */
const FIRST_ANSWER_SECONDS = 600;

const number = (min: number, max: number) => z.number().min(min).max(max).optional();
const params = z.strictObject({
  temperature: number(0, 5),
  topP: number(0, 1),
  topK: z.number().int().min(0).max(100_000).optional(),
  minP: number(0, 1),
  seed: z.number().int().min(0).max(4_294_967_295).optional(),
  repeatPenalty: number(0.1, 10),
});

/**
 * The models of the entry `local`; undefined when there is none, or when it names a server. Pure.
 * @param base folder that relative paths start from
 */
export function resolveLocal({ models, agents }: Pick<SvcConfig, "models" | "agents">, base: string): LocalSettings | undefined {
  const entry = models.providers.local;
  if (!entry || !isForLocalRuntime("local", entry)) return undefined;
  const perModel = modelParamsOf(agents.defaults.models, "local");
  const problems: string[] = [];
  const read = (where: string, value: unknown): LocalSampling => {
    const parsed = params.safeParse(value ?? {});
    if (parsed.success) return Object.fromEntries(Object.entries(parsed.data).filter(([, one]) => one !== undefined));
    problems.push(`${where}: ${parsed.error.issues[0]?.message}; expected of ${Object.keys(params.shape).join(", ")}`);
    return {};
  };
  const shared = read("models.providers.local.params", entry.params);
  return {
    firstAnswerMs: (entry.timeoutSeconds ?? FIRST_ANSWER_SECONDS) * 1_000,
    models: (entry.models ?? []).flatMap((model) => {
      if (model.modelPath === undefined) return [];
      const own = read(`agents.defaults.models["local/${model.id}"].params`, perModel[model.id]);
      return [modelOf({ ...model, modelPath: model.modelPath }, { base, params: { ...shared, ...own } })];
    }),
    problems,
  };
}

type ModelEntry = NonNullable<SvcConfig["models"]["providers"][string]["models"]>[number] & { modelPath: string };

function modelOf(entry: ModelEntry, { base, params }: { base: string; params: LocalSampling }): LocalModelSettings {
  const { id, name, modelPath, contextWindow = CONTEXT_WINDOW, maxTokens, tools, reasoning, cost } = entry;
  const known = { name, maxTokens, tools, reasoning, cost };
  return {
    id,
    source: parseModelSource(modelPath, base),
    contextWindow,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    reasoning: reasoning === true,
    params,
    info: {
      id,
      contextWindow,
      input: ["text"],
      ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
    } as ModelInfo,
  };
}
