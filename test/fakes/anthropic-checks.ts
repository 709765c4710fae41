import { isDeepStrictEqual } from "node:util";

type Block = Record<string, unknown> & { type: string };

export interface MessagesRequest {
  model: string;
  max_tokens: number;
  messages: Array<{ role: string; content: Block[] }>;
  system?: Block[];
  tools?: Array<Record<string, unknown> & { name: string }>;
  tool_choice?: { type: string; name?: string };
  thinking?: { type: string; budget_tokens?: number };
}

/** Reason why the Messages API would refuse a request, or undefined. */
export function checkMessages(body: unknown, issued: ReadonlyMap<string, object[]>): string | undefined {
  const request = body as MessagesRequest;
  return checkFields(request) ?? checkBreakpoints(request) ?? checkConversation(request, issued);
}

function checkFields({ model, max_tokens, tools = [], tool_choice, thinking, ...rest }: MessagesRequest): string | undefined {
  if (typeof model !== "string") return "model: Field required";
  if (!Number.isInteger(max_tokens) || max_tokens < 1) return "max_tokens: Field required";
  if ((rest as { stream?: unknown }).stream !== true) return "this server streams";
  const names = tools.map(({ name }) => name);
  const bad = names.find((name) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name));
  if (bad !== undefined) return `tools: name ${bad} should match pattern`;
  if (new Set(names).size !== names.length) return "tools: Tool names must be unique.";
  if (tools.some(({ input_schema: schema }) => (schema as { type?: unknown } | undefined)?.type !== "object"))
    return "tools: input_schema.type: Field required";
  if (tool_choice?.name !== undefined && !names.includes(tool_choice.name)) return `Tool '${tool_choice.name}' not found in provided tools`;
  if (thinking?.type !== "enabled") return undefined;
  const budget = thinking.budget_tokens ?? 0;
  if (budget < 1_024) return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  if (budget >= max_tokens) return "`max_tokens` must be greater than `thinking.budget_tokens`";
  return ["any", "tool"].includes(tool_choice?.type ?? "") ? "Thinking may not be enabled when tool_choice forces tool use." : undefined;
}

function checkBreakpoints({ system = [], tools = [], messages }: MessagesRequest): string | undefined {
  const blocks: Array<Record<string, unknown>> = [...tools, ...system, ...messages.flatMap(({ content }) => content)];
  const marked = blocks.filter((block) => block.cache_control !== undefined);
  if (marked.length > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`;
  if (marked.some(({ type }) => /thinking/.test(String(type)))) return "cache_control: thinking blocks cannot be cached";
  if (blocks.some(({ type, text }) => type === "text" && text === "")) return "text content blocks must be non-empty";
  return undefined;
}

function checkConversation({ messages, thinking }: MessagesRequest, issued: ReadonlyMap<string, object[]>): string | undefined {
  if (messages.length === 0) return "messages: at least one message is required";
  let open: string[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    if (role !== (i % 2 === 0 ? "user" : "assistant")) return "messages: roles must alternate between user and assistant";
    if (!Array.isArray(content) || content.length === 0) return `messages.${i}: content is empty`;
    const results = content.filter(({ type }) => type === "tool_result").map(({ tool_use_id: id }) => String(id));
    if (!isDeepStrictEqual([...results].sort(), [...open].sort())) {
      return `messages.${i}: each \`tool_use\` block must have a single result in the next message; open: ${open}; given: ${results}`;
    }
    if (content.findLastIndex(({ type }) => type === "tool_result") >= results.length)
      return `messages.${i}: tool_result blocks come first`;
    open = content.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
    const problem = role === "assistant" ? checkAnswer(content, issued) : undefined;
    if (problem !== undefined) return `messages.${i}: ${problem}`;
  }
  if (open.length > 0) return "tool_use without tool_result";
  return thinking?.type === "enabled" ? checkThinking(messages) : undefined;
}

/** Calls of the turn that goes on must have been made thinking, as the request says. */
function checkThinking(messages: MessagesRequest["messages"]): string | undefined {
  const called = messages.at(-1)?.content.some(({ type }) => type === "tool_result") ? messages.at(-2)?.content[0] : undefined;
  if (called === undefined || /thinking/.test(called.type)) return undefined;
  return `Expected \`thinking\` or \`redacted_thinking\`, but found \`${called.type}\`.`;
}

/** The blocks of an answer of ours with calls, as it went out. */
function checkAnswer(content: readonly Block[], issued: ReadonlyMap<string, object[]>): string | undefined {
  if (/thinking/.test(content.at(-1)?.type ?? "")) return "The final block in an assistant message cannot be `thinking`.";
  for (const block of content) {
    if (block.type !== "tool_use") continue;
    if (!/^[a-zA-Z0-9_-]+$/.test(String(block.id))) return "tool_use.id: String should match pattern";
    if (typeof block.input !== "object" || block.input === null || Array.isArray(block.input))
      return "tool_use.input: Input should be a valid dictionary";
    const sent = issued.get(String(block.id));
    if (sent && !isDeepStrictEqual(content, sent)) return "thinking blocks in an answer cannot be modified";
  }
  return undefined;
}
