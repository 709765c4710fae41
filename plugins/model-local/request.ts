import { type LocalChatRequest, type LocalSampling, ModelError, type ModelRequest } from "svc/sdk";
import { toGrammarSchema } from "./grammar-schema.ts";
import { toHistory } from "./history.ts";
import type { LocalModelSettings } from "./settings.ts";

/** Tokens of reasoning by level; a level that is not listed has no limit but the context. */
const thoughtTokens: Readonly<Record<string, number>> = { off: 0, none: 0, minimal: 256, low: 1_024, medium: 4_096 };
/** Used where neither the request nor the config says: the library's own, 0, makes small models repeat themselves. */
const TEMPERATURE = 0.7;

/**
 * A model request in the words of the runtime. Pure.
 * @throws {ModelError} `invalid_request` for what it cannot do
 */
export function toChatRequest(req: ModelRequest, model: LocalModelSettings): LocalChatRequest {
  const { responseFormat, parallelToolCalls } = req.sampling ?? {};
  const functions = functionsOf(req);
  const json = jsonOf(responseFormat);
  if (json !== undefined && functions) {
    throw new ModelError(
      "invalid_request",
      "local: the runtime cannot hold an answer to JSON and offer tools as well; leave out the tools or response_format",
    );
  }
  return {
    history: toHistory(req),
    sampling: samplingOf(req, model),
    ...(functions ? { functions } : {}),
    ...(functions && parallelToolCalls === false ? { parallelCalls: false } : {}),
    ...(json === undefined ? {} : { json }),
    ...(req.cacheKey === undefined ? {} : { cacheKey: req.cacheKey }),
  };
}

function functionsOf({ tools, toolChoice = "auto" }: ModelRequest): LocalChatRequest["functions"] {
  if (tools.length === 0 || toolChoice === "none") return undefined;
  if (toolChoice !== "auto") {
    throw new ModelError(
      "invalid_request",
      'local: models on this machine cannot be made to call a tool; tool_choice takes "auto" or "none"',
    );
  }
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [name, { description, params: toGrammarSchema(inputSchema, "arguments") }]),
  );
}

function jsonOf(format: NonNullable<ModelRequest["sampling"]>["responseFormat"]): LocalChatRequest["json"] {
  if (format === undefined || format.type === "text") return undefined;
  return format.type === "json_object" ? true : toGrammarSchema(format.schema, "answer");
}

function samplingOf({ sampling = {}, thinking }: ModelRequest, { maxTokens: limit, reasoning, params }: LocalModelSettings): LocalSampling {
  const { maxTokens, temperature, topP, frequencyPenalty, presencePenalty, seed, stop, reasoningEffort } = sampling;
  const level = reasoning ? (reasoningEffort ?? thinking) : undefined;
  const asked = {
    maxTokens: maxTokens === undefined || limit === undefined ? (maxTokens ?? limit) : Math.min(maxTokens, limit),
    temperature,
    topP,
    frequencyPenalty,
    presencePenalty,
    seed,
    stop,
    thoughtTokens: level === undefined ? undefined : (thoughtTokens[level] ?? Number.POSITIVE_INFINITY),
  };
  return { temperature: TEMPERATURE, ...params, ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) };
}
