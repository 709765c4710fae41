import type { JsonObject } from "./common.ts";
import type { JsonSchema } from "./schema.ts";

/** Cause of a run. */
export type RunTrigger = "user" | "hook" | "heartbeat" | "cron";

/** Facts known about a model; sizes in tokens. */
export interface ModelInfo {
  id: string;
  name?: string;
  contextWindow?: number;
  maxTokens?: number;
  reasoning?: boolean;
  /** Parts of a prompt that it reads besides text; absent: not known. */
  input?: ModelInput[];
  /** False: requests that offer tools are refused. */
  tools?: boolean;
  /** Prices in US dollars per million tokens; what is absent is not known, and reasoning counts as output. */
  cost?: ModelCost;
}

/** Kinds of content that a model can read. */
export type ModelInput = "text" | "image" | "pdf" | "audio";

/** Prices in US dollars per million tokens. */
export interface ModelCost {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/** One message of a conversation, in the form every provider gets. */
export type ModelMessage =
  | { role: "user"; content: UserPart[] }
  | { role: "assistant"; content: AssistantPart[] }
  | { role: "tool"; toolCallId: string; name: string; text: string; isError?: boolean };

/** Part of a user's message; `data` is base64. A model gets only what its `input` names. */
export type UserPart =
  | { type: "text"; text: string }
  | { type: "image"; mimeType: string; data: string }
  | { type: "file"; mimeType: string; data: string; fileName?: string };

/** Part of an answer, in the order in which the model wrote them. `meta` is there only for the provider and model that made it. */
export type AssistantPart =
  | { type: "text"; text: string; meta?: VendorMeta }
  /** `redacted`: the vendor shows only a sealed form, which is in `meta`; `text` is empty. */
  | { type: "reasoning"; text: string; redacted?: true; meta?: VendorMeta }
  | { type: "toolCall"; id: string; name: string; args: unknown; meta?: VendorMeta };

/** A vendor's own data about a part of an answer, as a signature: stored, and sent back untouched. */
export type VendorMeta = Readonly<JsonObject>;

/** A tool as a model is told of it. */
export interface ModelToolSpec {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** Asks the vendor to hold arguments to the schema exactly, where it can. */
  strict?: boolean;
}

/** Sampling of one request; what is absent is left to the vendor. */
export interface ModelSampling {
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  seed?: number;
  stop?: string[];
  /** Thinking level in the vendor's own words; wins over `thinking` where the vendor takes such a word. */
  reasoningEffort?: string;
  /** False asks for one tool call at a time; only sent to vendors when it is set. */
  parallelToolCalls?: boolean;
  responseFormat?:
    | { type: "text" }
    | { type: "json_object" }
    | { type: "json_schema"; name?: string; schema: JsonSchema; strict?: boolean };
}

/** Whether the model may, must or must not call tools. */
export type ToolChoice = "auto" | "none" | "required" | { name: string };

/** One request to a model. */
export interface ModelRequest {
  /** Id inside the provider, without the provider's prefix. */
  model: string;
  system: string;
  messages: ModelMessage[];
  tools: ModelToolSpec[];
  toolChoice?: ToolChoice;
  sampling?: ModelSampling;
  /** Thinking level: `off`, `minimal`, `low`, `medium`, `high` or `xhigh`. */
  thinking?: string;
  /** The same for all requests of one conversation, and for no other: for vendors that route by it to their prompt cache. */
  cacheKey?: string;
  context: {
    agentId: string;
    sessionKey: string;
    runId: string;
    /** Trigger of the run; absent: not known. */
    trigger?: RunTrigger;
    /** Only for the embedded provider: why no language model answers, a clause without a full stop; absent: none is configured. */
    notice?: string;
  };
}

/** Tokens of one request. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning?: number;
  total: number;
  /** In US dollars; absent when a price is not known. */
  cost?: number;
}

/** One piece of an answer, in the order of its arrival. */
export type ModelDelta =
  /** `meta` belongs to the whole text, and a later one takes the place of an earlier one; `delta` may be empty. */
  | { type: "text"; delta: string; meta?: VendorMeta }
  /** Reasoning; a new `id` begins a new block. `meta` belongs to the whole block, and a later one adds to an earlier one; `delta` may be empty. */
  | { type: "reasoning"; delta: string; id?: string; redacted?: true; meta?: VendorMeta }
  | { type: "toolCall"; id: string; name: string; argsDelta: string }
  | { type: "toolCallEnd"; id: string; meta?: VendorMeta }
  | { type: "usage"; usage: Usage }
  | { type: "finish"; reason: "stop" | "length" | "tool_calls" | "content_filter" | "other" };

/**
 * Reasons why a model call failed. All but the last two move on to the next candidate; `content_filter`: the vendor withheld the whole answer, `empty`: there was
 * nothing in it.
 */
export type ModelFault =
  | "auth"
  | "quota"
  | "rate_limit"
  | "overloaded"
  | "timeout"
  | "network"
  | "model_not_found"
  | "content_filter"
  | "empty"
  | "context_overflow"
  | "invalid_request";

/** Result of a probe of a provider's server. */
export type ModelProbe = { ok: true } | { ok: false; fault: ModelFault; reason: string };

/** A language model behind one vendor or server. Retries and time-outs belong to the run loop, not here. */
export interface ModelProvider {
  id: string;
  name?: string;
  /** Used when no model is configured for an agent. */
  defaultModel?: string;
  /** The provider that answers when no other is available. At most one. */
  embedded?: boolean;
  /** Where its key comes from: a config key or the name of a variable, for people to read; never the key. Absent: it has none, or nobody knows. */
  keySource?: string;
  /** Longest wait for the first word of an answer, in ms, as far as the config does not say; default 120 000. A server on this machine may read a long prompt for minutes. */
  firstAnswerMs?: number;
  models(): ModelInfo[] | Promise<ModelInfo[]>;
  /** Cheap and local: is there what it needs to call out (a key, an address)? */
  available(): { ok: true } | { ok: false; reason: string };
  /** Asks the server whether it answers and takes the key, at no cost and within a few seconds. Never rejects. Absent: there is nothing to ask. */
  probe?(options: { signal: AbortSignal }): Promise<ModelProbe>;
  /**
   * One model turn.
   * @throws {ModelError} with the class of the fault; aborting rejects with an `AbortError`
   */
  stream(req: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<ModelDelta>;
}
