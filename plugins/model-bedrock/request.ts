import type { AssistantPart, JsonObject, ModelMessage, ModelRequest, UserPart } from "svc/sdk";
import type { ProviderSettings } from "svc/sdk/internal";
import { isClaude, thinksAdaptively } from "./vendor.ts";

/** Input of `ConverseStream`, and whether calls in its answer are to be left out. */
export interface ConverseRequest {
  input: JsonObject;
  ignoresCalls: boolean;
}

/** Tokens of thought for models that are given a budget. */
const budgets: Readonly<Record<string, number>> = { minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384, xhigh: 32_768 };
/** Tokens of an answer, where nobody names a limit; the vendor's own default is the model's maximum. */
const DEFAULT_MAX_TOKENS = 8_192;
/** Turns of users that end with a mark, so that the vendor's cache covers what is before. With those of system and tools it makes four, the most there may be. */
const MARKED_TURNS = 2;

const cachePoint = { cachePoint: { type: "default" } };
const imageFormats: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** Our model request in the words of the Converse API. Pure. */
export function toConverse(req: ModelRequest, settings: Pick<ProviderSettings, "models" | "params" | "modelParams">): ConverseRequest {
  const info = settings.models.find(({ id }) => id === req.model);
  const claude = isClaude(req.model);
  const thinking = info?.reasoning === true && claude ? thinkingOf(req) : {};
  const tools = toolConfig(req, { claude, isThinking: thinking.fields !== undefined });
  const { temperature, topP, stop } = req.sampling ?? {};
  const asked = Math.min(req.sampling?.maxTokens ?? info?.maxTokens ?? DEFAULT_MAX_TOKENS, info?.maxTokens ?? Number.POSITIVE_INFINITY);
  const isFree = thinking.fields === undefined;
  const inference = {
    maxTokens: thinking.budget === undefined ? asked : Math.max(asked, thinking.budget + 1_024),
    ...(temperature === undefined || !isFree ? {} : { temperature }),
    ...(topP === undefined || !isFree ? {} : { topP }),
    ...(stop === undefined ? {} : { stopSequences: stop }),
  };
  const further = { ...settings.params, ...settings.modelParams?.[req.model], ...thinking.fields };
  const format = outputFormat(req);
  return {
    ignoresCalls: tools?.ignoresCalls ?? false,
    input: {
      modelId: req.model,
      messages: marked(toMessages(req.messages, claude), claude),
      ...(req.system === "" ? {} : { system: [{ text: withFormat(req) }, ...(claude ? [cachePoint] : [])] }),
      inferenceConfig: inference,
      ...(tools ? { toolConfig: tools.config } : {}),
      ...(Object.keys(further).length === 0 ? {} : { additionalModelRequestFields: further }),
      ...(format ? { outputConfig: format } : {}),
    },
  };
}

function thinkingOf(req: ModelRequest): { fields?: JsonObject; budget?: number } {
  const level = req.sampling?.reasoningEffort ?? req.thinking ?? "off";
  if (level === "off" || level === "none") return {};
  if (thinksAdaptively(req.model)) {
    const effort = level === "minimal" ? "low" : level === "xhigh" ? "high" : level;
    return { fields: { thinking: { type: "adaptive" }, output_config: { effort } } };
  }
  const budget = budgets[level] ?? (budgets.medium as number);
  return { fields: { thinking: { type: "enabled", budget_tokens: budget } }, budget };
}

/** The API knows no choice "none", and wants the tools again when the conversation has calls: then calls of the answer are left out. */
function toolConfig(
  { tools, toolChoice, messages }: ModelRequest,
  { claude, isThinking }: { claude: boolean; isThinking: boolean },
): { config: JsonObject; ignoresCalls: boolean } | undefined {
  const used = messages.flatMap((m) => (m.role === "assistant" ? m.content.flatMap((p) => (p.type === "toolCall" ? [p.name] : [])) : []));
  const isOff = tools.length === 0 || toolChoice === "none";
  if (isOff && used.length === 0) return undefined;
  const missing = [...new Set(used)].filter((name) => !tools.some((tool) => tool.name === name));
  const specs = [
    ...tools.map(({ name, description, inputSchema }) => ({ name, description: description || name, inputSchema: { json: inputSchema } })),
    ...missing.map((name) => ({ name, description: "No longer available.", inputSchema: { json: { type: "object", properties: {} } } })),
  ];
  const choice = isOff || isThinking ? undefined : toChoice(toolChoice);
  const config = {
    tools: [...specs.map((toolSpec) => ({ toolSpec })), ...(claude ? [cachePoint] : [])],
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

/** The API has no form for JSON without a schema. */
function withFormat({ system, sampling }: ModelRequest): string {
  return sampling?.responseFormat?.type === "json_object" ? `${system}\n\nAnswer with one JSON object and nothing else.` : system;
}

interface Message {
  role: "user" | "assistant";
  content: JsonObject[];
}

/** Messages in turn: the results of all calls of an answer stand in one message, together with what the user says then. */
function toMessages(messages: readonly ModelMessage[], claude: boolean): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toContent(message, claude);
    if (content.length === 0) continue;
    const last = out.at(-1);
    if (last?.role === role) last.content.push(...content);
    else out.push({ role, content });
  }
  return out;
}

function toContent(message: ModelMessage, claude: boolean): JsonObject[] {
  switch (message.role) {
    case "user":
      return message.content.flatMap(toUserBlock);
    case "assistant":
      return message.content.flatMap((part) => toAnswerBlock(part, claude));
    case "tool":
      return [
        {
          toolResult: {
            toolUseId: message.toolCallId,
            content: [{ text: message.text.trim() === "" ? "(empty)" : message.text }],
            status: message.isError ? "error" : "success",
          },
        },
      ];
  }
}

function toUserBlock(part: UserPart, at: number): JsonObject[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [{ text: part.text }];
  const source = { bytes: new Uint8Array(Buffer.from(part.data, "base64")) };
  if (part.type === "file" && part.mimeType === "application/pdf")
    return [{ document: { format: "pdf", name: documentName(part.fileName, at), source } }];
  const format = imageFormats[part.mimeType];
  return format === undefined
    ? [{ text: `[a file of type ${part.mimeType}, which this model cannot read]` }]
    : [{ image: { format, source } }];
}

/** Letters, digits, single spaces, hyphens and brackets are all that the API takes in the name of a document. */
function documentName(fileName: string | undefined, at: number): string {
  const clean = (fileName ?? "").replace(/[^A-Za-z0-9()[\]-]+/g, " ").trim();
  return clean === "" ? `document ${at + 1}` : clean.slice(0, 200);
}

/** Reasoning goes back to a Claude only with the signature that it came with; others take none. */
function toAnswerBlock(part: AssistantPart, claude: boolean): JsonObject[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [{ text: part.text }];
  if (part.type === "toolCall") return [{ toolUse: { toolUseId: part.id, name: part.name, input: part.args ?? {} } }];
  const { signature, redacted } = (part.meta?.bedrock ?? {}) as { signature?: string; redacted?: string };
  if (!claude) return [];
  if (redacted !== undefined) return [{ reasoningContent: { redactedContent: new Uint8Array(Buffer.from(redacted, "base64")) } }];
  return signature === undefined ? [] : [{ reasoningContent: { reasoningText: { text: part.text, signature } } }];
}

function marked(messages: Message[], claude: boolean): Message[] {
  if (!claude) return messages;
  const turns = messages.filter(({ role }) => role === "user").slice(-MARKED_TURNS);
  return messages.map((message) => (turns.includes(message) ? { ...message, content: [...message.content, cachePoint] } : message));
}
