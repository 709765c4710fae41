import type { AssistantPart, ModelMessage, ModelRequest, UserPart, VendorMeta } from "../../types/model.ts";

/**
 * The call options of a language model of the AI SDK, specification V3, as far as requests of ours need them. The vendor packages are the plugins' own, so
 * their types are not imported here; the compiler holds each plugin's package against these.
 */
export interface CallOptions {
  prompt: PromptMessage[];
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  seed?: number;
  stopSequences?: string[];
  responseFormat?: { type: "json"; schema?: object; name?: string };
  tools?: CallTool[];
  toolChoice?: { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string };
}

type Json = null | string | number | boolean | Json[] | { [key: string]: Json | undefined };
/** Options for one vendor, by its name in the package. */
export type VendorOptions = Record<string, { [key: string]: Json | undefined }>;

interface WithOptions {
  providerOptions?: VendorOptions;
}

type TextPart = { type: "text"; text: string } & WithOptions;
type FilePart = { type: "file"; mediaType: string; data: string; filename?: string } & WithOptions;
type AnswerPart =
  | TextPart
  | ({ type: "reasoning"; text: string } & WithOptions)
  | ({ type: "tool-call"; toolCallId: string; toolName: string; input: unknown } & WithOptions);
type ResultPart = {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text" | "error-text"; value: string };
} & WithOptions;

/** A message of a prompt; options may be added to it and to its parts. */
export type PromptMessage = WithOptions &
  (
    | { role: "system"; content: string }
    | { role: "user"; content: Array<TextPart | FilePart> }
    | { role: "assistant"; content: AnswerPart[] }
    | { role: "tool"; content: ResultPart[] }
  );

/** A tool as the package is told of it. */
export interface CallTool extends WithOptions {
  type: "function";
  name: string;
  description: string;
  inputSchema: object;
  strict?: boolean;
}

/** Which reasoning of earlier answers goes back to the model. `turn`: only that since the last message of a user. */
export type ReplayedReasoning = "all" | "turn" | "none";

export interface CallRules {
  reasoning: ReplayedReasoning;
  /** Longest answer the model gives, in tokens; a request may ask for less. */
  maxTokens?: number | undefined;
}

/** Our model request in the words of the vendor packages. What is not set is left out, and the vendor decides. Pure. */
export function toCallOptions(req: ModelRequest, rules: CallRules): CallOptions {
  const { maxTokens, temperature, topP, frequencyPenalty, presencePenalty, seed, stop, responseFormat } = req.sampling ?? {};
  const options: { [K in keyof CallOptions]: CallOptions[K] | undefined } = {
    prompt: toPrompt(req, rules.reasoning),
    maxOutputTokens: smaller(maxTokens, rules.maxTokens),
    temperature,
    topP,
    frequencyPenalty,
    presencePenalty,
    seed,
    stopSequences: stop,
    responseFormat: toResponseFormat(responseFormat),
    tools: req.tools.length === 0 ? undefined : req.tools.map(toTool),
    toolChoice: req.tools.length === 0 ? undefined : toToolChoice(req.toolChoice),
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as unknown as CallOptions;
}

/** Message in the place of a person's first one where the conversation begins with an answer. */
const opening: ModelMessage = { role: "user", content: [{ type: "text", text: "(start of the conversation)" }] };

/** Messages for a vendor that wants a user to begin. Pure. */
export function begunByUser(messages: ModelMessage[]): ModelMessage[] {
  const [first] = messages;
  return first === undefined || first.role === "user" ? messages : [opening, ...messages];
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function toPrompt(req: ModelRequest, reasoning: ReplayedReasoning): PromptMessage[] {
  const system: PromptMessage[] = req.system === "" ? [] : [{ role: "system", content: req.system }];
  const turn = req.messages.findLastIndex(({ role }) => role === "user");
  const isReplayed = (i: number) => reasoning === "all" || (reasoning === "turn" && i > turn);
  return [...system, ...req.messages.flatMap((message, i) => toMessage(message, isReplayed(i)))];
}

function toMessage(message: ModelMessage, withReasoning: boolean): PromptMessage[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.content.map(toUserPart) }];
    case "assistant": {
      const content = message.content.flatMap((part) => toAnswerPart(part, withReasoning));
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    case "tool": {
      const output = { type: message.isError ? ("error-text" as const) : ("text" as const), value: message.text };
      return [{ role: "tool", content: [{ type: "tool-result", toolCallId: message.toolCallId, toolName: message.name, output }] }];
    }
  }
}

function toUserPart(part: UserPart): TextPart | FilePart {
  if (part.type === "text") return { type: "text", text: part.text };
  const fileName = part.type === "file" && part.fileName !== undefined ? { filename: part.fileName } : {};
  return { type: "file", mediaType: part.mimeType, data: part.data, ...fileName };
}

function toAnswerPart(part: AssistantPart, withReasoning: boolean): AnswerPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, ...withMeta(part.meta) }];
    case "reasoning":
      return withReasoning ? [{ type: "reasoning", text: part.text, ...withMeta(part.meta) }] : [];
    case "toolCall":
      return [{ type: "tool-call", toolCallId: part.id, toolName: part.name, input: part.args ?? {}, ...withMeta(part.meta) }];
  }
}

/** Turns metadata that a package reported about a part into the options by which it takes them back. */
function withMeta(meta: VendorMeta | undefined): WithOptions {
  return meta === undefined ? {} : { providerOptions: meta as VendorOptions };
}

function toTool(tool: ModelRequest["tools"][number]): CallTool {
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
