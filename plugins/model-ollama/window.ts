import type { ModelInfo, SvcConfig } from "svc/sdk";
import type { ProviderSettings } from "svc/sdk/internal";
import type { Details } from "./details.ts";

/** Window where neither the config nor the model's own file names one: whole windows of today's models do not fit into most machines. */
const DEFAULT_WINDOW = 32_768;

/** Longest prompts that the config allows to agents. */
export interface PromptLimits {
  /** For agents without a limit of their own. */
  default: number | undefined;
  /** The largest that an agent has of its own. */
  own: number | undefined;
}

export function longestPrompts({ defaults, list }: Pick<SvcConfig["agents"], "defaults" | "list">): PromptLimits {
  const own = list.flatMap(({ contextTokens }) => contextTokens ?? []);
  return { default: defaults.contextTokens, own: own.length === 0 ? undefined : Math.max(...own) };
}

export interface WindowSources {
  settings: Pick<ProviderSettings, "models" | "params" | "modelParams">;
  prompts: PromptLimits;
  details: Details | undefined;
}

/**
 * The window (`num_ctx`) that every request to a model asks for. It must not differ between agents: with another value the server loads the model anew.
 * A parameter of the config wins; else the longest prompt of any agent, or the model's window, or what its own file says, and never more than the model has. Pure.
 */
export function windowOf(model: string, { settings, prompts, details }: WindowSources): number {
  const { params, modelParams, models } = settings;
  const set = numCtxOf(modelParams?.[model]) ?? numCtxOf(params);
  if (set !== undefined) return set;
  const configured = models.find(({ id }) => id === model)?.contextWindow;
  const wanted = Math.max(prompts.default ?? configured ?? details?.numCtx ?? DEFAULT_WINDOW, prompts.own ?? 0);
  return Math.min(wanted, configured ?? wanted, details?.contextLength ?? wanted);
}

function numCtxOf(params: Readonly<Record<string, unknown>> | undefined): number | undefined {
  const { num_ctx: value } = (params?.options ?? {}) as { num_ctx?: unknown };
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

/** A model with what is known of it; what the config says wins, except that its window is the one that is asked for. Pure. */
export function withDetails(model: ModelInfo, sources: WindowSources): ModelInfo {
  const { details } = sources;
  const facts: Partial<ModelInfo> =
    details?.capabilities === undefined
      ? {}
      : {
          input: details.capabilities.includes("vision") ? ["text", "image"] : ["text"],
          reasoning: details.capabilities.includes("thinking"),
          tools: details.capabilities.includes("tools"),
        };
  return { ...facts, ...model, contextWindow: windowOf(model.id, sources) };
}
