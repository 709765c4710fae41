import { isDeepStrictEqual } from "node:util";

type Block = Record<string, Record<string, unknown>>;

/** Body of a `ConverseStream`, as it travels: bytes are base64. */
export interface ConverseBody {
  messages: Array<{ role: string; content: Array<Record<string, unknown>> }>;
  system?: Array<Record<string, unknown>>;
  inferenceConfig?: { maxTokens?: number; temperature?: number };
  toolConfig?: {
    tools: Array<{ toolSpec?: { name: string; inputSchema: { json: { type?: string } } }; cachePoint?: object }>;
    toolChoice?: Choice;
  };
  additionalModelRequestFields?: Record<string, unknown> & { thinking?: { type: string; budget_tokens?: number } };
}
type Choice = { any?: object; auto?: object; tool?: { name: string } };

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** Reason why the Converse API would refuse a request, or undefined. `issued`: contents of answers with calls, by the model and the id of each. */
export function checkConverse(model: string, body: ConverseBody, issued: ReadonlyMap<string, object[]>): string | undefined {
  const keeps = /anthropic\.claude-(?:[a-z]+-[4-9]|3-7|3-5-haiku)/.test(model);
  return (
    checkTools(body) ?? checkInference(body) ?? checkMarks(body, keeps) ?? checkConversation(model, body, issued) ?? checkDocuments(body)
  );
}

const blocksOf = ({ messages }: ConverseBody) => messages.flatMap(({ content }) => content) as Block[];

function checkTools(body: ConverseBody): string | undefined {
  const { toolConfig } = body;
  if (!toolConfig) {
    const hasToolBlocks = blocksOf(body).some((block) => block.toolUse || block.toolResult);
    return hasToolBlocks ? "The toolConfig field must be defined when using toolUse and toolResult content blocks." : undefined;
  }
  const specs = toolConfig.tools.flatMap(({ toolSpec }) => toolSpec ?? []);
  const names = specs.map(({ name }) => name);
  if (names.length === 0) return "toolConfig.tools: at least one tool";
  if (names.some((name) => !toolName.test(name))) return "toolSpec.name: failed to satisfy constraint";
  if (new Set(names).size !== names.length) return "The tool names must be unique";
  if (specs.some(({ inputSchema }) => inputSchema.json.type !== "object")) return "inputSchema.json.type must be object";
  const unknown = blocksOf(body).find(({ toolUse }) => toolUse && !names.includes(String(toolUse.name)));
  if (unknown) return `the conversation calls ${String(unknown.toolUse?.name)}, which is no tool`;
  const { toolChoice } = toolConfig;
  if (toolChoice && !isDeepStrictEqual(Object.keys(toolChoice).length, 1)) return "toolChoice: one member";
  if (toolChoice?.tool && !names.includes(toolChoice.tool.name)) return "toolChoice.tool.name: no such tool";
  return undefined;
}

function checkInference({ inferenceConfig = {}, additionalModelRequestFields = {}, toolConfig }: ConverseBody): string | undefined {
  const { thinking } = additionalModelRequestFields;
  const { maxTokens, temperature } = inferenceConfig;
  if (maxTokens !== undefined && (!Number.isInteger(maxTokens) || maxTokens < 1)) return "inferenceConfig.maxTokens: at least 1";
  if ("max_tokens" in additionalModelRequestFields) return "max_tokens: conflicts with inferenceConfig";
  if (thinking === undefined || thinking.type === "disabled") return undefined;
  if (temperature !== undefined) return "`temperature` may only be set to 1 when thinking is enabled.";
  if (thinking.type !== "enabled") return undefined;
  const budget = thinking.budget_tokens ?? 0;
  if (budget < 1_024) return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  if (maxTokens === undefined || budget >= maxTokens) return "`max_tokens` must be greater than `thinking.budget_tokens`";
  const { any, tool } = toolConfig?.toolChoice ?? {};
  return any || tool ? "Thinking may not be enabled when tool_choice forces tool use." : undefined;
}

function checkMarks(body: ConverseBody, keeps: boolean): string | undefined {
  const all = [...(body.system ?? []), ...(body.toolConfig?.tools ?? []), ...blocksOf(body)];
  const count = all.filter((block) => "cachePoint" in block).length;
  if (count > 0 && !keeps) return "You invoked an unsupported model or your request did not allow prompt caching.";
  if (count > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${count}.`;
  const texts = [...(body.system ?? []), ...blocksOf(body)].flatMap((block) => ("text" in block ? [String(block.text)] : []));
  return texts.some((text) => text.trim() === "") ? "The text field in the ContentBlock object is blank." : undefined;
}

function checkConversation(model: string, body: ConverseBody, issued: ReadonlyMap<string, object[]>): string | undefined {
  const { messages } = body;
  if (messages.length === 0) return "messages: at least one";
  let open: string[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    if (role !== (i % 2 === 0 ? "user" : "assistant")) return "A conversation must alternate between user and assistant roles.";
    if (content.length === 0) return `The content field in the Message object at messages.${i} is empty.`;
    const blocks = content as Block[];
    const results = blocks.flatMap(({ toolResult }) => (toolResult ? [String(toolResult.toolUseId)] : []));
    if (!isDeepStrictEqual([...results].sort(), [...open].sort()))
      return `messages.${i}: Expected toolResult blocks for the following Ids: ${open}; given: ${results}`;
    if (blocks.findLastIndex(({ toolResult }) => toolResult) >= results.length) return `messages.${i}: results come first`;
    open = blocks.flatMap(({ toolUse }) => (toolUse ? [String(toolUse.toolUseId)] : []));
    const problem = role === "assistant" ? checkAnswer(model, blocks, issued) : undefined;
    if (problem !== undefined) return `messages.${i}: ${problem}`;
  }
  if (open.length > 0) return "toolUse without toolResult";
  return body.additionalModelRequestFields?.thinking?.type === "enabled" ? checkThinking(messages) : undefined;
}

/** Calls of the turn that goes on must have been made thinking, as the request says. */
function checkThinking(messages: ConverseBody["messages"]): string | undefined {
  const goesOn = messages.at(-1)?.content.some((block) => "toolResult" in block);
  const first = goesOn ? messages.at(-2)?.content[0] : undefined;
  return first === undefined || "reasoningContent" in first
    ? undefined
    : "Expected `thinking` or `redacted_thinking`, but found `tool_use`.";
}

/** The blocks of an answer of ours with calls, as it went out. */
function checkAnswer(model: string, blocks: Block[], issued: ReadonlyMap<string, object[]>): string | undefined {
  if (blocks.some(({ reasoningContent }) => reasoningContent) && !model.includes("anthropic.claude"))
    return "User messages cannot contain reasoning content. Please remove the reasoning content and try again.";
  if (blocks.at(-1)?.reasoningContent) return "The final block in an assistant message cannot be `thinking`.";
  for (const { toolUse } of blocks) {
    if (!toolUse) continue;
    if (!toolName.test(String(toolUse.toolUseId))) return "toolUse.toolUseId: failed to satisfy constraint";
    if (typeof toolUse.input !== "object" || toolUse.input === null || Array.isArray(toolUse.input))
      return "toolUse.input: not a valid JSON object";
    const sent = issued.get(`${model} ${toolUse.toolUseId}`);
    if (sent && !isDeepStrictEqual(blocks, sent)) return "`thinking` or `redacted_thinking` blocks cannot be modified";
  }
  return undefined;
}

function checkDocuments(body: ConverseBody): string | undefined {
  const names = blocksOf(body).flatMap(({ document }) => (document ? [String(document.name)] : []));
  if (names.some((name) => !/^(?:[A-Za-z0-9()[\]-]| (?! ))+$/.test(name))) return "The document file name can only contain some characters";
  if (new Set(names).size !== names.length) return "Messages contain documents with duplicate names";
  const bare = body.messages.find(({ content }) => content.some((one) => "document" in one) && !content.some((one) => "text" in one));
  return bare ? "A text block must be included with a document" : undefined;
}
