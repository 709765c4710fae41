import type { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { ModelRequest } from "svc/sdk";
import { begunByUser, type PromptMessage, toCallOptions } from "svc/sdk/internal";
import { toAcceptable } from "./acceptable.ts";
import { toGoogleSchema } from "./schema.ts";
import { thinkingStyleOf, toThinkingConfig } from "./thinking.ts";
import type { GoogleSettings } from "./vendors.ts";

export type GeminiModel = ReturnType<ReturnType<typeof createGoogleGenerativeAI>["chat"]>;
type VendorRequest = Parameters<GeminiModel["doStream"]>[0];

/** Our model request in the vendor package's words. Summaries of thoughts go back until the turn is over; signatures of calls and texts always do. Pure. */
export function toVendorRequest(req: ModelRequest, settings: Pick<GoogleSettings, "models">): VendorRequest {
  const { maxTokens, reasoning } = settings.models.find(({ id }) => id === req.model) ?? {};
  const { tools, responseFormat, prompt, ...call } = toCallOptions(
    { ...req, messages: begunByUser(req.messages) },
    { reasoning: "turn", maxTokens },
  );
  const thinkingConfig = toThinkingConfig(req.model, {
    style: thinkingStyleOf(req.model, reasoning),
    level: req.thinking,
    effort: req.sampling?.reasoningEffort,
  });
  return {
    ...call,
    prompt: toPrompt(prompt),
    ...(tools ? { tools: tools.map((tool) => ({ ...tool, inputSchema: toGoogleSchema(tool.inputSchema) })) } : {}),
    ...(responseFormat
      ? { responseFormat: { ...responseFormat, ...(responseFormat.schema ? { schema: toGoogleSchema(responseFormat.schema) } : {}) } }
      : {}),
    ...(thinkingConfig ? { providerOptions: { google: { thinkingConfig } } } : {}),
  };
}

/** Messages of one role become one, as the vendor wants the results of calls at once; what it would refuse is left out. */
function toPrompt(prompt: readonly PromptMessage[]): PromptMessage[] {
  const merged: PromptMessage[] = [];
  for (const message of prompt.map(toAcceptable)) {
    const last = merged.at(-1);
    if (message.role !== "system" && message.content.length === 0) continue;
    if (last?.role === "tool" && message.role === "tool") last.content.push(...message.content);
    else if (last?.role === "user" && message.role === "user") last.content.push(...message.content);
    else if (last?.role === "assistant" && message.role === "assistant") last.content.push(...message.content);
    else merged.push(message);
  }
  return merged;
}

/** The body as it is sent: what the request says, over the model's parameters, over the vendor's; settings of the generation one by one. Pure. */
export function withParams(
  body: Record<string, unknown>,
  model: string,
  { params, modelParams }: Pick<GoogleSettings, "params" | "modelParams">,
): Record<string, unknown> {
  const layers = [params ?? {}, modelParams?.[model] ?? {}, body];
  const generationConfig = Object.assign({}, ...layers.map((layer) => layer.generationConfig)) as object;
  return { ...Object.assign({}, ...layers), ...(Object.keys(generationConfig).length > 0 ? { generationConfig } : {}) };
}
