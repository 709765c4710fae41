import type { AssistantPart, JsonSchema, ModelMessage, ModelRequest, UserPart } from "svc/sdk";
import type { ProviderSettings } from "svc/sdk/internal";

/** A message of `POST /api/chat` (`api/types.go` of ollama/ollama). */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  thinking?: string;
  /** Base64. */
  images?: string[];
  tool_calls?: Array<{ id: string; function: { name: string; arguments: object } }>;
  tool_name?: string;
  tool_call_id?: string;
}

export type Think = boolean | string;

export interface RequestFacts {
  /** The window to ask for. */
  numCtx: number;
  /** Whether the model thinks; undefined: not known. */
  thinks: boolean | undefined;
  /** Lesson of earlier refusals: the model takes no `think`, or only true and false. */
  learned: "none" | "plain" | undefined;
}

/**
 * The body of `POST /api/chat`: what the request says, over the model's parameters, over the vendor's. The server must neither cut nor move the window
 * silently: what does not fit is an error. Pure.
 */
export function toChatBody(
  req: ModelRequest,
  settings: Pick<ProviderSettings, "models" | "params" | "modelParams">,
  facts: RequestFacts,
): object {
  const { options: paramOptions, ...params } = { ...settings.params };
  const { options: modelOptions, ...modelParams } = { ...settings.modelParams?.[req.model] };
  const think = thinkOf(req, facts);
  const tools = toolsOf(req);
  const format = formatOf(req);
  return {
    ...params,
    ...modelParams,
    model: req.model,
    messages: toMessages(req),
    stream: true,
    truncate: false,
    shift: false,
    ...(tools.length === 0 ? {} : { tools }),
    ...(think === undefined ? {} : { think }),
    ...(format === undefined ? {} : { format }),
    options: { ...asObject(paramOptions), ...asObject(modelOptions), ...optionsOf(req, settings), num_ctx: facts.numCtx },
  };
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

function optionsOf({ model, sampling = {} }: ModelRequest, { models }: Pick<ProviderSettings, "models">): Record<string, unknown> {
  const limit = models.find(({ id }) => id === model)?.maxTokens;
  const asked = sampling.maxTokens;
  const options = {
    num_predict: asked !== undefined && limit !== undefined ? Math.min(asked, limit) : (asked ?? limit),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    seed: sampling.seed,
    stop: sampling.stop,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

const levels: Readonly<Record<string, Think>> = { off: false, none: false, minimal: "low", xhigh: "max" };

/** The thinking level goes only to models that are known to think: others refuse the whole request for it. */
function thinkOf({ thinking, sampling }: ModelRequest, { thinks, learned }: RequestFacts): Think | undefined {
  const level = sampling?.reasoningEffort ?? thinking;
  if (level === undefined || thinks !== true || learned === "none") return undefined;
  const think = levels[level] ?? level;
  return learned === "plain" ? think !== false : think;
}

/** The server has no tool choice: tools that must not be called are left out, and of a named one the others. */
function toolsOf({ tools, toolChoice }: ModelRequest): object[] {
  if (toolChoice === "none") return [];
  const offered = typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  return offered.map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));
}

function formatOf({ sampling }: ModelRequest): "json" | JsonSchema | undefined {
  const format = sampling?.responseFormat;
  if (format === undefined || format.type === "text") return undefined;
  return format.type === "json_object" ? "json" : format.schema;
}

function toMessages(req: ModelRequest): ChatMessage[] {
  const system: ChatMessage[] = req.system === "" ? [] : [{ role: "system", content: req.system }];
  const turn = req.messages.findLastIndex(({ role }) => role === "user");
  // A model that thinks between calls of tools gets these thoughts back until its turn is over.
  return [...system, ...req.messages.flatMap((message, i) => toMessage(message, i > turn))];
}

function toMessage(message: ModelMessage, isOfTurn: boolean): ChatMessage[] {
  switch (message.role) {
    case "user":
      return [userMessage(message.content)];
    case "assistant":
      return assistantMessage(message.content, isOfTurn);
    case "tool": {
      // There is no other sign of a failure.
      const content = message.isError && !/^error\b/i.test(message.text) ? `Error: ${message.text}` : message.text;
      return [{ role: "tool", tool_name: message.name, tool_call_id: message.toolCallId, content }];
    }
  }
}

function userMessage(parts: readonly UserPart[]): ChatMessage {
  const texts = parts.flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "file" ? [`[file ${part.fileName ?? part.mimeType}, which this model cannot read]`] : [];
  });
  const images = parts.flatMap((part) => (part.type === "image" ? [part.data] : []));
  return { role: "user", content: texts.join("\n"), ...(images.length === 0 ? {} : { images }) };
}

function assistantMessage(parts: readonly AssistantPart[], isOfTurn: boolean): ChatMessage[] {
  const content = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const thinking = isOfTurn ? parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("\n") : "";
  const calls = parts.flatMap((part) =>
    part.type === "toolCall" ? [{ id: part.id, function: { name: part.name, arguments: asObject(part.args) } }] : [],
  );
  if (content === "" && calls.length === 0) return [];
  return [{ role: "assistant", content, ...(thinking === "" ? {} : { thinking }), ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}
