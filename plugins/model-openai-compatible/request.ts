import { convertToOpenAICompatibleChatMessages, prepareTools } from "@ai-sdk/openai-compatible/internal";
import type { ModelRequest } from "svc/sdk";
import { toCallOptions } from "svc/sdk/internal";
import type { ChatSettings } from "./vendors.ts";

/**
 * The body of a request for a streamed answer with its counts; messages and tools in the form that the vendor package gives them. A model that reasons
 * between calls of tools gets that reasoning back until its turn is over. Pure.
 */
export function toChatBody(
  req: ModelRequest,
  settings: Pick<ChatSettings, "models" | "params" | "modelParams" | "vendor">,
): Record<string, unknown> {
  const options = toCallOptions(req, { reasoning: "turn" });
  const { tools, toolChoice } = prepareTools({ tools: options.tools as Tools, toolChoice: options.toolChoice });
  const parallel = req.sampling?.parallelToolCalls;
  const body = {
    model: req.model,
    max_tokens: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    response_format: responseFormatOf(req),
    stop: options.stopSequences,
    seed: options.seed,
    ...(parallel === undefined || req.tools.length === 0 ? {} : { parallel_tool_calls: parallel }),
    reasoning_effort: reasoningEffortOf(req, settings),
    messages: convertToOpenAICompatibleChatMessages(options.prompt as Prompt).map(withPlainText),
    tools,
    tool_choice: toolChoice,
    stream: true,
    stream_options: { include_usage: true },
  };
  return toRequestBody(body, settings);
}

type Message = ReturnType<typeof convertToOpenAICompatibleChatMessages>[number];

/** A message of texts alone that the gateway has put a line before is one text: some servers take no list of parts from a user. */
function withPlainText(message: Message): Message {
  if (message.role !== "user" || !Array.isArray(message.content)) return message;
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const isPlain = texts.length === message.content.length && texts[0]?.startsWith("System: ");
  return isPlain ? { ...message, content: texts.join("\n\n") } : message;
}

type Prompt = Parameters<typeof convertToOpenAICompatibleChatMessages>[0];
type Tools = Parameters<typeof prepareTools>[0]["tools"];

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

function responseFormatOf({ sampling }: ModelRequest): object | undefined {
  const format = sampling?.responseFormat;
  if (format === undefined || format.type === "text") return undefined;
  if (format.type === "json_object") return { type: "json_object" };
  const { schema, name = "response", strict = false } = format;
  return { type: "json_schema", json_schema: { schema, strict, name } };
}

/** The thinking level goes only to models that are declared to reason: others refuse the whole request for it. */
function reasoningEffortOf(req: ModelRequest, settings: Pick<ChatSettings, "models">): string | undefined {
  const { reasoning } = settings.models.find((model) => model.id === req.model) ?? {};
  const level = reasoning === true && req.thinking !== "off" ? req.thinking : undefined;
  // A caller that names the vendor's own word knows the model, unless the config does.
  return (reasoning === false ? undefined : req.sampling?.reasoningEffort) ?? level;
}
