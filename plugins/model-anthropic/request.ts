import type { createAnthropic } from "@ai-sdk/anthropic";
import type { AssistantPart, ModelMessage, ModelRequest } from "svc/sdk";
import { begunByUser, type PromptMessage, toCallOptions } from "svc/sdk/internal";
import { toAcceptable } from "./acceptable.ts";
import { withBreakpoints } from "./breakpoints.ts";
import { thinkingStyleOf, toThinking } from "./thinking.ts";
import type { AnthropicSettings } from "./vendors.ts";

export type MessagesModel = ReturnType<ReturnType<typeof createAnthropic>["chat"]>;
export type VendorRequest = Parameters<MessagesModel["doStream"]>[0];
type Settings = Pick<AnthropicSettings, "models" | "params" | "modelParams">;

/** Longest answer when nobody says one; the package lowers it to what a model it knows can give. */
const MAX_TOKENS = 32_000;
/** For models of others. */
const MAX_FOREIGN_TOKENS = 8_192;
const jsonOnly = "Answer with one JSON object and nothing else.";

/** Our model request in the vendor package's words. All reasoning goes back: the vendor leaves out what it does not need, and a prompt that only grows stays in its cache. Pure. */
export function toVendorRequest(req: ModelRequest, settings: Settings): VendorRequest {
  const { model, sampling, tools } = req;
  const { maxTokens: limit, reasoning } = settings.models.find(({ id }) => id === model) ?? {};
  const isOwn = model.includes("claude-");
  const params = paramsOf(model, settings);
  const configured = typeof params.max_tokens === "number" ? params.max_tokens : undefined;
  const { maxOutputTokens, options } = toThinking({
    model,
    limit,
    level: req.thinking,
    effort: sampling?.reasoningEffort,
    style: thinkingStyleOf(model, reasoning),
    maxTokens: sampling?.maxTokens ?? configured ?? limit ?? (isOwn ? MAX_TOKENS : MAX_FOREIGN_TOKENS),
    refusesBudget: mustCall(req) || hasUnthoughtCalls(req.messages),
  });
  const call = withBreakpoints(toCallOptions({ ...req, messages: begunByUser(req.messages) }, { reasoning: "all" }));
  return {
    ...samplingOf(params),
    ...call,
    prompt: [...toPrompt(call.prompt, sampling?.responseFormat?.type === "json_object")],
    maxOutputTokens,
    providerOptions: {
      anthropic: {
        ...options,
        ...(sampling?.parallelToolCalls === false && tools.length > 0 ? { disableParallelToolUse: true } : {}),
        // A field of the vendor's own: servers of others may refuse it.
        ...(isOwn ? {} : { toolStreaming: false }),
      },
    },
  };
}

function mustCall({ tools, toolChoice }: ModelRequest): boolean {
  return tools.length > 0 && (toolChoice === "required" || typeof toolChoice === "object");
}

/** True in the middle of a turn with calls that came without thinking of this vendor, as those of another model: it wants thinking before each of them. */
function hasUnthoughtCalls(messages: ModelRequest["messages"]): boolean {
  const isAnswer = (message: ModelMessage) => message.role === "assistant" && !message.content.some(({ type }) => type === "toolCall");
  // A message between the calls of a turn does not begin another: on the wire it stands beside the results.
  const turn = messages.slice(messages.findLastIndex((message, i) => i < messages.length - 1 && isAnswer(message)) + 1);
  return turn.some((message) => message.role === "assistant" && !isThought(message.content[0]));
}

/** Whether a part goes out as a block of thinking; the package leaves out reasoning of others. */
function isThought(part: AssistantPart | undefined): boolean {
  return part?.type === "reasoning" && part.meta?.anthropic !== undefined;
}

/** Fields of each request, as the config has them. */
function paramsOf(model: string, { params, modelParams }: Omit<Settings, "models">): Readonly<Record<string, unknown>> {
  return { ...params, ...modelParams?.[model] };
}

/** Parameters that the package is told of: it leaves them out where the model or its thinking refuses them. */
const samplingNames: ReadonlyMap<string, "temperature" | "topP" | "topK"> = new Map([
  ["temperature", "temperature"],
  ["top_p", "topP"],
  ["top_k", "topK"],
]);

function samplingOf(params: Readonly<Record<string, unknown>>): Pick<VendorRequest, "temperature" | "topP" | "topK"> {
  return Object.fromEntries(
    [...samplingNames].flatMap(([name, option]) => (typeof params[name] === "number" ? [[option, params[name]] as const] : [])),
  );
}

/** Fields that the package is not told of. A word in the place of a number is for the vendor to refuse. */
export function fieldsOf(model: string, settings: Omit<Settings, "models">): Readonly<Record<string, unknown>> {
  const fields = Object.entries(paramsOf(model, settings));
  return Object.fromEntries(fields.filter(([name, value]) => !samplingNames.has(name) || typeof value !== "number"));
}

/** Leaves out texts of whitespace only: the vendor refuses the whole request for one. */
function withoutBlanks(message: PromptMessage): PromptMessage {
  switch (message.role) {
    case "user":
      return { ...message, content: message.content.filter((part) => part.type !== "text" || part.text.trim() !== "") };
    case "assistant":
      return { ...message, content: message.content.filter((part) => part.type !== "text" || part.text.trim() !== "") };
    default:
      return message;
  }
}

function* toPrompt(prompt: readonly PromptMessage[], isJson: boolean): Iterable<PromptMessage> {
  const [first] = prompt;
  if (first?.role === "system") yield first;
  // The vendor knows no such format without a schema. Behind the part that is cached.
  if (isJson) yield { role: "system", content: jsonOnly };
  for (const message of first?.role === "system" ? prompt.slice(1) : prompt) {
    const kept = toAcceptable(withoutBlanks(message));
    if (kept.content.length > 0) yield kept;
  }
}
