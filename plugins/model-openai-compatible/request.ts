import type { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { AssistantPart, ModelMessage, ModelRequest } from "svc/sdk";
import type { ProviderSettings } from "./settings.ts";

export type ChatModel = ReturnType<ReturnType<typeof createOpenAICompatible>["chatModel"]>;
type CallOptions = Parameters<ChatModel["doStream"]>[0];
type Prompt = CallOptions["prompt"];
type AnswerPart = Extract<Prompt[number], { role: "assistant" }>["content"][number];

/** Our model request in the vendor package's words. Pure. */
export function toCallOptions(req: ModelRequest, settings: Pick<ProviderSettings, "id" | "models">): CallOptions {
  const sampling = req.sampling ?? {};
  const options: { [K in keyof CallOptions]: CallOptions[K] | undefined } = {
    prompt: toPrompt(req),
    maxOutputTokens: sampling.maxTokens,
    temperature: sampling.temperature,
    topP: sampling.topP,
    frequencyPenalty: sampling.frequencyPenalty,
    presencePenalty: sampling.presencePenalty,
    seed: sampling.seed,
    stopSequences: sampling.stop,
    responseFormat: toResponseFormat(sampling.responseFormat),
    tools: req.tools.length === 0 ? undefined : req.tools.map(toTool),
    toolChoice: req.tools.length === 0 ? undefined : toToolChoice(req.toolChoice),
    providerOptions: { openaiCompatible: vendorOptions(req, settings), ...furtherFields(req, settings.id) },
  };
  const set = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as unknown as CallOptions;
}

/** Fields the vendor package passes on as they are. */
function furtherFields(req: ModelRequest, provider: string): Record<string, { [name: string]: boolean }> {
  const parallel = req.sampling?.parallelToolCalls;
  return parallel === undefined || req.tools.length === 0 ? {} : { [provider]: { parallel_tool_calls: parallel } };
}

function toPrompt(req: ModelRequest): Prompt {
  const system: Prompt = req.system === "" ? [] : [{ role: "system", content: req.system }];
  return [...system, ...req.messages.map(toMessage)];
}

function toMessage(message: ModelMessage): Prompt[number] {
  switch (message.role) {
    case "user":
      return {
        role: "user",
        content: message.content.map((part) =>
          part.type === "text" ? { type: "text", text: part.text } : { type: "file", mediaType: part.mimeType, data: part.data },
        ),
      };
    case "assistant": {
      return { role: "assistant", content: message.content.flatMap(toAnswerPart) };
    }
    case "tool": {
      const output = { type: message.isError ? ("error-text" as const) : ("text" as const), value: message.text };
      return { role: "tool", content: [{ type: "tool-result", toolCallId: message.toolCallId, toolName: message.name, output }] };
    }
  }
}

function toAnswerPart(part: AssistantPart): AnswerPart[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type === "reasoning") return [];
  return [{ type: "tool-call", toolCallId: part.id, toolName: part.name, input: part.args ?? {} }];
}

function toTool(tool: ModelRequest["tools"][number]): NonNullable<CallOptions["tools"]>[number] {
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(tool.strict === undefined ? {} : { strict: tool.strict }),
  };
}

function toToolChoice(choice: ModelRequest["toolChoice"]): CallOptions["toolChoice"] {
  if (choice === undefined) return undefined;
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name };
}

function toResponseFormat(format: NonNullable<ModelRequest["sampling"]>["responseFormat"]): CallOptions["responseFormat"] {
  if (format === undefined || format.type === "text") return undefined;
  if (format.type === "json_object") return { type: "json" };
  return { type: "json", schema: format.schema, ...(format.name === undefined ? {} : { name: format.name }) };
}

/**
 * The body as it is sent: what the request says, over the model's parameters, over the vendor's; its answer within the model's own limit. Pure.
 * @param body in the words of the protocol
 */
export function toRequestBody(
  { max_tokens: asked, ...body }: Record<string, unknown>,
  { models, params, modelParams, maxTokensField }: Pick<ProviderSettings, "models" | "params" | "modelParams" | "maxTokensField">,
): Record<string, unknown> {
  const model = String(body.model);
  const limit = models.find(({ id }) => id === model)?.maxTokens;
  const budget = typeof asked === "number" && limit !== undefined ? Math.min(asked, limit) : (asked ?? limit);
  const said = Object.entries({ ...body, [maxTokensField]: budget }).filter(([, value]) => value !== undefined);
  return { ...params, ...modelParams?.[model], ...Object.fromEntries(said) };
}

/** The thinking level goes only to models that are declared to reason: others refuse the whole request for it. */
function vendorOptions(req: ModelRequest, settings: Pick<ProviderSettings, "models">): Record<string, string | boolean> {
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
