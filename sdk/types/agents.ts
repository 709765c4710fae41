import type { JsonObject } from "./common.ts";
import type { ModelSampling, ModelToolSpec, ToolChoice, Usage } from "./model.ts";
import type { OperatorScope } from "./rpc.ts";
import type { MessageBlock } from "./store.ts";
import type { ToolResult } from "./tool.ts";

/** An agent with everything resolved from config. */
export interface AgentInfo {
  id: string;
  name?: string;
  isDefault: boolean;
  /** Absolute path. */
  workspace: string;
  /** `provider/model`, primary first; empty = the first available provider. */
  models: string[];
  identity: { name?: string; emoji?: string; avatar?: string };
}

/** What began a run. */
export type RunTrigger = "user" | "hook" | "heartbeat" | "cron";

/** A message for an agent. */
export interface RunRequest {
  /** May be empty only with attachments. */
  message: string;
  attachments?: Array<{ type: "image"; mimeType: string; data: string }>;
  agentId?: string;
  sessionKey?: string;
  /** Idempotency key; a repeat attaches to the same run. Default: a fresh UUID. */
  runId?: string;
  trigger: RunTrigger;
  /** `provider/model`, a bare model id or an alias; never stored on the session. */
  model?: string;
  thinking?: string;
  timeoutMs?: number;
  /** Added to the system prompt of this run only. */
  extraSystem?: string;
  /** Turns that precede the message and are not yet in the session. */
  history?: Array<{ role: "user" | "assistant" | "toolResult"; content: MessageBlock[]; toolCallId?: string; toolName?: string }>;
  /** Tools that the caller runs itself: a call to one ends the run with `stopReason: "tool_calls"`. */
  clientTools?: ModelToolSpec[];
  toolChoice?: ToolChoice;
  sampling?: ModelSampling;
  /** The message is the answer to a client tool call instead of a user turn. */
  toolResults?: Array<{ toolCallId: string; text: string }>;
  actor: { kind: "rpc" | "http" | "internal"; scopes: readonly OperatorScope[]; connId?: string };
}

/** How a run ended. */
export interface RunOutcome {
  status: "ok" | "error";
  /** `TIMEOUT`, `ABORTED`, `INTERRUPTED`, `EMPTY_RESPONSE`, `INVALID_MODEL`, or a model fault class in upper case. */
  code?: string;
  /** Plain sentence, safe to show. */
  error?: string;
  text: string;
  /** Calls of client tools, for the caller to run. */
  toolCalls: Array<{ id: string; name: string; args: unknown }>;
  usage: Usage;
  stopReason: string;
  provider?: string;
  model?: string;
  startedAt?: number;
  endedAt?: number;
  durationMs?: number;
}

/** What happens in a run, in order; `seq` from 1. The shapes are those of the `agent` event (`protocol.md` 10). */
export interface RunEvent {
  runId: string;
  seq: number;
  stream: "lifecycle" | "assistant" | "tool" | "usage";
  ts: number;
  sessionKey: string;
  agentId: string;
  sessionId: string;
  data: JsonObject;
}

/** A run that was taken on, or is known already. */
export interface RunHandle {
  runId: string;
  sessionKey: string;
  sessionId: string;
  agentId: string;
  acceptedAt: number;
  /** `in_flight` and `finished`: the id was known already and nothing was started. */
  state: "started" | "queued" | "in_flight" | "finished";
  /** From the first event on; ends after the terminal lifecycle event. Leaving it aborts nothing. */
  events(): AsyncIterable<RunEvent>;
  /** Never rejects. */
  done: Promise<RunOutcome>;
  abort(reason: "rpc" | "timeout" | "superseded" | "disconnect" | "shutdown"): void;
}

/** Service `agents@1`. */
export interface Agents {
  /**
   * Starts a run, or attaches to the run of a repeated `runId`. Resolves when the user message and the run row are committed.
   * @throws {SvcError} `unknown-agent`, `invalid-session-key`, `invalid-model`, `model-not-allowed`,
   *   `client-tool-conflict`, `storage-*`, `draining`
   */
  run(request: RunRequest): Promise<RunHandle>;
  /** Full key and agent for what a caller named. @throws as `run` */
  resolve(target: { agentId?: string; sessionKey?: string }): { agentId: string; sessionKey: string };
  list(): AgentInfo[];
  /** Runs one tool under the agent's policy. @throws {SvcError} `tool-not-found`, `invalid-tool-args` */
  invokeTool(name: string, args: unknown, target: { agentId: string; sessionKey: string; signal: AbortSignal }): Promise<ToolResult>;
}
