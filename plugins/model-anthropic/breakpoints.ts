import type { CallTool, PromptMessage } from "svc/sdk/internal";

const breakpoint = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** The part of a request that the vendor's prompt cache works on. */
export interface CachedPrompt {
  prompt: PromptMessage[];
  tools?: CallTool[];
}

/**
 * Marks up to where the vendor keeps a prompt: the end of the system prompt (of the tools, which stand before it, when there is none), and the last two
 * messages that came from users and tools, so that each request finds what the one before it left there. That is three of the four marks a request may
 * have; the fourth is spare. Pure.
 */
export function withBreakpoints<T extends CachedPrompt>(request: T): T {
  const { prompt, tools } = request;
  const system = prompt.findLastIndex(({ role }) => role === "system");
  const marked = new Set([system, ...lastInputs(prompt, 2)]);
  return {
    ...request,
    prompt: prompt.map((message, i) => (marked.has(i) ? { ...message, providerOptions: breakpoint } : message)),
    ...(tools === undefined ? {} : { tools: system < 0 ? withLastMarked(tools) : tools }),
  };
}

/** The last message of each of the last groups of input; the vendor gets a group, as the results of calls at once, as one message. */
function lastInputs(prompt: readonly PromptMessage[], count: number): number[] {
  const found: number[] = [];
  for (let i = prompt.length - 1; i >= 0 && found.length < count; i--) {
    if (isInput(prompt[i]) && !isInput(prompt[i + 1])) found.push(i);
  }
  return found;
}

function isInput(message: PromptMessage | undefined): boolean {
  return message?.role === "user" || message?.role === "tool";
}

function withLastMarked(tools: CallTool[]): CallTool[] {
  return tools.map((tool, i) => (i === tools.length - 1 ? { ...tool, providerOptions: breakpoint } : tool));
}
