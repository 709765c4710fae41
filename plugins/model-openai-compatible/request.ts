import type { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ModelRequest } from "svc/sdk";
import { toCallOptions } from "svc/sdk/internal";
import type { ChatSettings } from "./vendors.ts";

export type ChatModel = ReturnType<ReturnType<typeof createOpenAICompatible>["chatModel"]>;
type VendorRequest = Parameters<ChatModel["doStream"]>[0];

/** Our model request in the vendor package's words. A model that reasons between calls of tools gets that reasoning back until its turn is over. Pure. */
export function toVendorRequest(req: ModelRequest, settings: Pick<ChatSettings, "id" | "models">): VendorRequest {
  const providerOptions = { openaiCompatible: vendorOptions(req, settings), ...furtherFields(req, settings.id) };
  return { ...toCallOptions(req, { reasoning: "turn" }), providerOptions };
}

/** Fields the vendor package passes on as they are. */
function furtherFields(req: ModelRequest, provider: string): Record<string, { [name: string]: boolean }> {
  const parallel = req.sampling?.parallelToolCalls;
  return parallel === undefined || req.tools.length === 0 ? {} : { [provider]: { parallel_tool_calls: parallel } };
}

/**
 * The body as it is sent: what the request says, over the model's parameters, over the vendor's; its answer within the model's own limit. Pure.
 * @param body in the words of the protocol
 */
export function toRequestBody(
  { max_tokens: asked, ...body }: Record<string, unknown>,
  { models, params, modelParams, vendor }: Pick<ChatSettings, "models" | "params" | "modelParams" | "vendor">,
): Record<string, unknown> {
  const model = String(body.model);
  const field = vendor?.maxTokensField ?? "max_tokens";
  const { max_tokens: _protocols, ...further } = { ...params, ...modelParams?.[model] };
  const limit = models.find(({ id }) => id === model)?.maxTokens;
  // A vendor with a name of its own for it refuses both together.
  const wanted = [{ [field]: asked }, modelParams?.[model], params].map((layer) => layer?.[field] ?? layer?.max_tokens).find(isGiven);
  const budget = typeof wanted === "number" && limit !== undefined ? Math.min(wanted, limit) : (wanted ?? limit);
  const said = Object.entries({ ...body, [field]: budget }).filter(([, value]) => value !== undefined);
  return { ...further, ...Object.fromEntries(said) };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The thinking level goes only to models that are declared to reason: others refuse the whole request for it. */
function vendorOptions(req: ModelRequest, settings: Pick<ChatSettings, "models">): Record<string, string | boolean> {
  const { reasoning } = settings.models.find((model) => model.id === req.model) ?? {};
  const level = reasoning === true && req.thinking !== "off" ? req.thinking : undefined;
  // A caller that names the vendor's own word knows the model, unless the config does.
  const effort = (reasoning === false ? undefined : req.sampling?.reasoningEffort) ?? level;
  const format = req.sampling?.responseFormat;
  return {
    strictJsonSchema: format?.type === "json_schema" && format.strict === true,
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
  };
}
