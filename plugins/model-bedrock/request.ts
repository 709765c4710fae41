import type { JsonObject, ModelRequest } from "svc/sdk";
import { begunByUser, type ProviderSettings } from "svc/sdk/internal";
import { type Message, toMessages } from "./messages.ts";
import { type Thinking, thinkingOf } from "./thinking.ts";
import { cachesPrompts, claudeVersion, isClaude } from "./vendor.ts";

/** Input of `ConverseStream`, and whether calls in its answer are to be left out. */
export interface ConverseRequest {
  input: JsonObject;
  ignoresCalls: boolean;
}

type Settings = Pick<ProviderSettings, "models" | "params" | "modelParams">;

/** Tokens of a Claude's answer, where nobody names a limit: the vendor counts the longest answer against the account. Others have limits that nobody knows here. */
const DEFAULT_MAX_TOKENS = 8_192;
/** Turns of users that end with a mark, so that the vendor's cache covers what is before. With those of system and tools it makes four, the most there may be. */
const MARKED_TURNS = 2;
/** The first Claude that can be held to the schema of a tool. */
const FIRST_STRICT = 405;
/** The first Claude that takes a temperature or a top-p, and refuses both together; and the first that takes neither. */
const FIRST_EITHER_OR = 401;
const FIRST_UNSAMPLED = 407;

const cachePoint = { cachePoint: { type: "default" } };
const jsonOnly = { text: "Answer with one JSON object and nothing else." };
/** Fields of `params` that are the API's own. */
const ownFields = ["guardrailConfig", "performanceConfig", "serviceTier", "requestMetadata"];

/**
 * Our model request in the words of the Converse API. Pure.
 * @throws {ModelError} for an effort that the vendor does not know
 */
export function toConverse(req: ModelRequest, settings: Settings): ConverseRequest {
  const { reasoning, maxTokens: limit } = settings.models.find(({ id }) => id === req.model) ?? {};
  const claude = isClaude(req.model);
  const keeps = cachesPrompts(req.model);
  const thinking = reasoning === true && claude ? thinkingOf(req, limit) : undefined;
  const { max_tokens, temperature, top_p, stop_sequences, ...params } = { ...settings.params, ...settings.modelParams?.[req.model] };
  const inference = toInference(req, { params: { max_tokens, temperature, top_p, stop_sequences }, limit, thinking });
  const [own, further] = split({ ...params, ...thinking?.fields });
  const tools = toolConfig(req, keeps);
  const system = toSystem(req, keeps);
  const format = outputFormat(req);
  return {
    ignoresCalls: tools?.ignoresCalls ?? false,
    input: {
      ...own,
      modelId: req.model,
      messages: marked(toMessages(begunByUser(req.messages), claude), keeps),
      ...(system.length === 0 ? {} : { system }),
      ...(Object.keys(inference).length === 0 ? {} : { inferenceConfig: inference }),
      ...(tools ? { toolConfig: tools.config } : {}),
      ...(Object.keys(further).length === 0 ? {} : { additionalModelRequestFields: further }),
      ...(format ? { outputConfig: format } : {}),
    },
  };
}

function split(fields: JsonObject): [own: JsonObject, further: JsonObject] {
  const isOwn = ([name]: [string, unknown]) => ownFields.includes(name);
  const all = Object.entries(fields);
  return [Object.fromEntries(all.filter(isOwn)), Object.fromEntries(all.filter((field) => !isOwn(field)))];
}

/** Temperature and its like do not go together with thinking. */
function toInference(
  { model, sampling = {} }: ModelRequest,
  { params, limit, thinking }: { params: JsonObject; limit: number | undefined; thinking: Thinking | undefined },
): JsonObject {
  const configured = typeof params.max_tokens === "number" ? params.max_tokens : undefined;
  const asked = sampling.maxTokens ?? configured ?? limit ?? (cachesPrompts(model) ? DEFAULT_MAX_TOKENS : undefined);
  const isThinking = thinking !== undefined && (thinking.fields.thinking as { type: string }).type !== "disabled";
  const temperature = sampling.temperature ?? params.temperature;
  const topP = sampling.topP ?? params.top_p;
  const version = claudeVersion(model);
  const isSampled = !isThinking && version < FIRST_UNSAMPLED;
  const all: JsonObject = {
    maxTokens: asked === undefined ? undefined : Math.min(asked + (thinking?.budget ?? 0), limit ?? Number.POSITIVE_INFINITY),
    temperature: isSampled ? temperature : undefined,
    topP: isSampled && (temperature === undefined || version < FIRST_EITHER_OR) ? topP : undefined,
    stopSequences: sampling.stop ?? params.stop_sequences,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** The API has no form for JSON without a schema. The words for it stand behind the part that is cached. */
function toSystem({ system, sampling }: ModelRequest, keeps: boolean): JsonObject[] {
  const words = system.trim() === "" ? [] : [{ text: system }, ...(keeps ? [cachePoint] : [])];
  return sampling?.responseFormat?.type === "json_object" ? [...words, jsonOnly] : words;
}

/** The API knows no choice "none", and wants the tools again when the conversation has calls: then calls of the answer are left out. */
function toolConfig(
  { model, tools, toolChoice, messages }: ModelRequest,
  keeps: boolean,
): { config: JsonObject; ignoresCalls: boolean } | undefined {
  const used = messages.flatMap((m) => (m.role === "assistant" ? m.content.flatMap((p) => (p.type === "toolCall" ? [p.name] : [])) : []));
  const isOff = tools.length === 0 || toolChoice === "none";
  if (isOff && used.length === 0) return undefined;
  const known = new Set(tools.map(({ name }) => name));
  const missing = [...new Set(used)].filter((name) => !known.has(name));
  const isStrict = claudeVersion(model) >= FIRST_STRICT;
  const specs = [
    ...tools.map(({ name, description, inputSchema, strict }) => ({
      name,
      description: description || name,
      inputSchema: { json: inputSchema },
      ...(strict === true && isStrict ? { strict } : {}),
    })),
    ...missing.map((name) => ({ name, description: "No longer available.", inputSchema: { json: { type: "object", properties: {} } } })),
  ];
  const choice = isOff ? undefined : toChoice(toolChoice);
  const config = {
    tools: [...specs.map((toolSpec) => ({ toolSpec })), ...(keeps ? [cachePoint] : [])],
    ...(choice ? { toolChoice: choice } : {}),
  };
  return { config, ignoresCalls: isOff };
}

function toChoice(choice: ModelRequest["toolChoice"]): JsonObject | undefined {
  if (choice === undefined || choice === "auto" || choice === "none") return undefined;
  return choice === "required" ? { any: {} } : { tool: { name: choice.name } };
}

function outputFormat({ sampling }: ModelRequest): JsonObject | undefined {
  const format = sampling?.responseFormat;
  if (format?.type !== "json_schema") return undefined;
  const jsonSchema = { schema: JSON.stringify(format.schema), ...(format.name === undefined ? {} : { name: format.name }) };
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}

function marked(messages: Message[], keeps: boolean): Message[] {
  if (!keeps) return messages;
  const turns = messages.filter(({ role }) => role === "user").slice(-MARKED_TURNS);
  return messages.map((message) => (turns.includes(message) ? { ...message, content: [...message.content, cachePoint] } : message));
}
