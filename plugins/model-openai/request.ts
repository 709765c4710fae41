import { createHash } from "node:crypto";
import type { createOpenAI } from "@ai-sdk/openai";
import type { ModelRequest } from "svc/sdk";
import { type CallOptions, type PromptMessage, type ProviderSettings, toCallOptions } from "svc/sdk/internal";
import { factsOf } from "./models.ts";
import { effortOf } from "./thinking.ts";

export type ResponsesModel = ReturnType<ReturnType<typeof createOpenAI>["responses"]>;
type VendorRequest = Parameters<ResponsesModel["doStream"]>[0];

/** The vendor refuses a longer one. */
const MAX_CACHE_KEY_CHARS = 64;

/**
 * Our model request in the vendor package's words. Nothing is stored at the vendor: reasoning comes back sealed and is sent again with each request, before
 * the calls that followed it. Pure.
 * @param summaries false: the account may not ask for summaries of reasoning
 */
export function toVendorRequest(
  req: ModelRequest,
  { models, ...params }: Pick<ProviderSettings, "models" | "params" | "modelParams">,
  { summaries }: { summaries: boolean },
): VendorRequest {
  const configured = models.find(({ id }) => id === req.model);
  const facts = factsOf(req.model);
  // The size of the family is a limit for those who ask, and not asked for by itself.
  const maxTokens = configured?.maxTokens ?? (req.sampling?.maxTokens === undefined ? undefined : facts.maxTokens);
  const { parallelToolCalls, responseFormat } = req.sampling ?? {};
  const reasoning = configured?.reasoning ?? facts.reasoning;
  return {
    ...samplingOf(paramsOf(req.model, params)),
    ...withoutLooseReasoning(toCallOptions(req, { reasoning: "all", maxTokens })),
    providerOptions: {
      openai: {
        store: false,
        strictJsonSchema: responseFormat?.type === "json_schema" && responseFormat.strict === true,
        ...(req.cacheKey === undefined ? {} : { promptCacheKey: shortened(req.cacheKey) }),
        ...(parallelToolCalls === undefined || req.tools.length === 0 ? {} : { parallelToolCalls }),
        ...(reasoning === undefined ? {} : { forceReasoning: reasoning }),
        ...(reasoning === false ? {} : reasoningOptions(req, reasoning === true, summaries)),
      },
    },
  };
}

/** Reasoning that nothing followed, as in an answer cut by its limit, is left out: the vendor refuses it. */
function withoutLooseReasoning(options: CallOptions): CallOptions {
  const prompt = options.prompt.flatMap((message): PromptMessage[] => {
    if (message.role !== "assistant") return [message];
    const content = message.content.slice(0, message.content.findLastIndex(({ type }) => type !== "reasoning") + 1);
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return { ...options, prompt };
}

/** The thinking level goes only to models that are known to reason: others refuse the whole request for it. */
function reasoningOptions(req: ModelRequest, isKnown: boolean, summaries: boolean): Record<string, string> {
  const effort = req.sampling?.reasoningEffort ?? (isKnown ? effortOf(req.model, req.thinking) : undefined);
  return {
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    ...(isKnown && summaries && effort !== "none" ? { reasoningSummary: "auto" } : {}),
  };
}

function shortened(key: string): string {
  return key.length <= MAX_CACHE_KEY_CHARS ? key : createHash("sha256").update(key).digest("hex");
}

type Params = Pick<ProviderSettings, "params" | "modelParams">;

function paramsOf(model: string, { params, modelParams }: Params): Readonly<Record<string, unknown>> {
  return { ...params, ...modelParams?.[model] };
}

/** Parameters that the package is told of: it leaves them out for models that reason. */
function samplingOf({ temperature, top_p: topP }: Readonly<Record<string, unknown>>): Pick<VendorRequest, "temperature" | "topP"> {
  return { ...(typeof temperature === "number" ? { temperature } : {}), ...(typeof topP === "number" ? { topP } : {}) };
}

/** The body as it is sent: what the request says, over the model's parameters, over the vendor's. Pure. */
export function toRequestBody(text: string, settings: Params): string {
  if (settings.params === undefined && Object.keys(settings.modelParams ?? {}).length === 0) return text;
  const body = JSON.parse(text) as Record<string, unknown>;
  const params = Object.entries(paramsOf(String(body.model), settings));
  // A word in the place of a number is for the vendor to refuse.
  const further = params.filter(([name, value]) => (name !== "temperature" && name !== "top_p") || typeof value !== "number");
  return JSON.stringify({ ...Object.fromEntries(further), ...body });
}
