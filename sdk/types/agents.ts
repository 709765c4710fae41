import type { JsonObject } from "./common.ts";
import type { MessageRoute, OutboundRequest } from "./messaging.ts";
import type { ModelInput, ModelMessage, ModelSampling, ModelToolSpec, RunTrigger, ToolChoice, Usage, UserPart } from "./model.ts";
import type { OperatorScope } from "./rpc.ts";
import type { MessageBlock, QueueMode } from "./store-rows.ts";
import type { RunOrigin, ToolResult } from "./tool.ts";

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

/** Places for runs: those of people, of jobs and of hooks do not take each other's. */
export type RunLane = "main" | "cron" | "hooks";

/** Destination of an answer besides its session. Default: where the session last heard from somebody, else `webchat`. */
export type DeliverTo = Partial<Pick<OutboundRequest, "channel" | "to" | "accountId" | "threadId" | "replyToId">>;

/** A message for an agent. */
export interface RunRequest {
  /** May be empty only with attachments. */
  message: string;
  /** Pictures, documents and recordings as base64, and files as their text. */
  attachments?: Array<
    | { type: "image"; mimeType: string; data: string }
    | { type: "file"; mimeType: string; data: string; fileName?: string }
    | { type: "text"; fileName?: string; text: string }
  >;
  agentId?: string;
  sessionKey?: string;
  /** Idempotency key; a repeat attaches to the same run. Default: a fresh UUID. */
  runId?: string;
  /**
   * A repeat of `runId` whose run was interrupted by the end of the gateway runs again, in the same transcript and with its message once. That the run has
   * begun (`startedAt` of its row) is on disk before a plugin or the model sees its message.
   */
  resume?: boolean;
  /**
   * `fresh`: the run begins a new transcript of its session. `single`: the request stands alone in a new session, which nobody continues: soon after a success
   * nothing is left of it but, where it is repeatable, the row of the run. Default `continue`.
   */
  transcript?: "continue" | "fresh" | "single";
  /** False: nobody asks again under `runId`. The row of a run that succeeded says how it ended, the transcript alone what was answered. Default true. */
  isRepeatable?: boolean;
  trigger: RunTrigger;
  /** `provider/model`, a bare model id or an alias; never stored on the session. */
  model?: string;
  thinking?: string;
  timeoutMs?: number;
  /** Effect of the message on a running turn of its session; default `followup`: it waits for a turn of its own. */
  queueMode?: QueueMode;
  /** Default `main`. */
  lane?: RunLane;
  /** Bring the answer to a channel if there is one; the outcome says what became of it. */
  deliver?: boolean;
  deliverTo?: DeliverTo;
  /**
   * Place on a channel that the message is taken to come from. The prompt names the channel, hooks see the place, the tools of its group hold where `tools` is not
   * given, and the operator's own are left out. `webchat`, and a channel that is not known, count as none.
   */
  place?: MessageRoute;
  /** Origin of the run that asks for this one, which has no more rights than it; default `operator`: the request decides. */
  origin?: RunOrigin;
  /** The message is one of `commands.ownerAllowFrom` in a direct conversation: its run may plan jobs. Its origin stays `person`. */
  isOwner?: boolean;
  /** Session whose run asks for this one; a session that is made for it keeps that. */
  spawnedBy?: string;
  /** Narrows the tools of this run: only those of `allow`, none of `deny`. Names, `*` and `group:…` as in `tools`. */
  tools?: { allow?: readonly string[]; deny?: readonly string[] };
  /** Added to the system prompt of this run only. */
  extraSystem?: string;
  /** Person on a channel who wrote the message, for people who read the transcript; names are cut to one printable line of 100 characters. Models do not read it. */
  sender?: MessageSender;
  /** Turns that precede the message and are not yet in the session. */
  history?: Array<{ role: "user" | "assistant" | "toolResult"; content: MessageBlock[]; toolCallId?: string; toolName?: string }>;
  /**
   * Turns at the start of `history` that are read before the transcript and not stored: whoever brings the whole conversation each time, or keeps it. Default 0.
   */
  unstoredTurns?: number;
  /** Tools that the caller runs itself: a call to one ends the run with `stopReason: "tool_calls"`. */
  clientTools?: ModelToolSpec[];
  toolChoice?: ToolChoice;
  sampling?: ModelSampling;
  /** The message is the answer to a client tool call instead of a user turn. */
  toolResults?: Array<{ toolCallId: string; text: string }>;
  actor: { kind: "rpc" | "http" | "hook" | "channel" | "internal"; scopes: readonly OperatorScope[]; connId?: string };
}

/** Person who wrote a message on a channel. */
export interface MessageSender {
  /** Id on the platform, which nobody else can take on. */
  id: string;
  /** Name as the platform tells it; it may change hands. */
  name?: string | undefined;
  channel?: string | undefined;
}

/** Outcome of a run. */
export interface RunOutcome {
  status: "ok" | "error";
  /** `TIMEOUT`, `ABORTED`, `INTERRUPTED`, `EMPTY_RESPONSE`, `INVALID_MODEL`, or a model fault class in upper case. */
  code?: string;
  /** Plain sentence, safe to show. */
  error?: string;
  /** Status of the vendor's answer, where that failed the run. */
  httpStatus?: number;
  /** How long the vendor asks callers to wait before they try again. */
  retryAfterMs?: number;
  text: string;
  /** Reasoning of the model in the turns of this run, where its vendor gives it. */
  reasoning?: string;
  /** Calls of client tools, for the caller to run. `args` is the model's own text where that is no JSON object, as when it was cut off. */
  toolCalls: Array<{ id: string; name: string; args: unknown }>;
  usage: Usage;
  stopReason: string;
  provider?: string;
  model?: string;
  startedAt?: number;
  endedAt?: number;
  durationMs?: number;
  /** Delivery status of a run that was to be delivered. `suppressed`: no channel could take it, or there was nothing to tell. Absent while it is on its way. */
  deliveryStatus?: "sent" | "suppressed" | "partial_failed" | "failed";
  /** The message was answered by the turn of this other run. */
  mergedInto?: string;
}

/** Events of a run, in order; `seq` from 1. The shapes are those of the `agent` event. */
export interface RunEvent {
  runId: string;
  seq: number;
  stream: "lifecycle" | "assistant" | "reasoning" | "toolInput" | "tool" | "compaction" | "usage";
  ts: number;
  sessionKey: string;
  agentId: string;
  sessionId: string;
  /** The agent looked around by itself. */
  isHeartbeat?: boolean;
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

/** When an event is read: by a heartbeat at once, or with the session's next prompt, the next heartbeat at the latest. */
export type WakeMode = "now" | "next-heartbeat";

/** Something an agent is to know. */
export interface SystemEventRequest {
  /** Neither this nor `sessionKey`: the default agent. */
  agentId?: string;
  /** Default: the main session of the agent; only with `mode: "now"` or without a mode. */
  sessionKey?: string;
  text: string;
  /** Text to compare with the newest event that waits; default: `text`. */
  same?: string;
  /** Origin: `rpc`, `hook`, `cron`. */
  source: string;
  /** Default: it waits, and nobody is woken. */
  mode?: WakeMode;
  /** The gateway itself asks: at least 30 s apart, at most 5 heartbeats in 10 min per agent. */
  isOwn?: boolean;
}

/** Place and conditions of a tool call that no model made. */
export interface ToolInvocation {
  agentId: string;
  sessionKey: string;
  signal: AbortSignal;
  /** Default: made up. */
  toolCallId?: string;
  /** A client outside asks: the list of `gateway.tools` holds as well. `isOwner`: it may do everything. */
  outside?: { isOwner: boolean };
  /** Place on a channel that the call is taken to come from, as that of a run. Default: that of the session, where it is a group. */
  place?: MessageRoute;
  /** Becomes the argument `action` of a tool that has one, unless it is given. */
  action?: string;
  /** Everything is checked that can be checked without running the tool; the result is empty. */
  dryRun?: boolean;
}

/**
 * A command of a plugin in every chat, offered at the contribution point `chatCommand` under its name: `/approve 1a2b once`. A message that begins with its name never reaches a model. Names of
 * the agents' own commands win.
 */
export interface ChatCommand {
  /** `^[a-z][a-z-]{0,31}$`, without the slash. */
  name: string;
  /** Line in `/help`: arguments, a colon, what it does. */
  help: string;
  /** Scope that a client needs. */
  scope: "write" | "approvals" | "admin";
  /** Scope that a client needs for this text behind the name; undefined: `scope`. */
  scopeFor?(argument: string): ChatCommand["scope"] | undefined;
  /** On a channel only those of `commands.ownerAllowFrom` may give it. */
  isForOwners: boolean;
  /** Does it; called again when a message is delivered twice. Resolves with the answer for its author. */
  run(call: ChatCommandCall): Promise<string>;
}

/** One message that is a command of a plugin. */
export interface ChatCommandCall {
  agentId: string;
  sessionKey: string;
  /** Text behind the name. */
  argument: string;
  /** Author: a user, device or client, or a sender as `irc:kim`. */
  by: string;
}

/** One question to a model outside of every conversation. */
export interface ModelQuestion {
  agentId: string;
  /** Its own model answers, with the fallbacks of the agent, where it reads all of `content`. Tools are called for it. */
  sessionKey: string;
  /** Run that the question is part of: the model of it or of its session answers, it counts the tokens, and tools have no more rights than it. Without one at work nobody counts them. */
  runId?: string;
  system: string;
  content: UserPart[];
  /** Asked before those of the session: `provider/model`, a bare id or an alias. One that nobody offers is passed over. */
  model?: string;
  /** Only a model that the question, the run, its session or the agent names is asked, not the first one that is ready. */
  isNamedOnly?: boolean;
  /** Answers where no model of the session is known to read `content`: `provider/model`, a bare id or an alias. One whose provider does not say what it reads is believed to. */
  otherwise?: string;
  /** Thinking level; default `off`. */
  thinking?: string;
  /** Names of tools that the model may call meanwhile, as far as the policy of the agent lets it: in at most four answers, at most eight calls each. Default: none. */
  tools?: readonly string[];
  signal: AbortSignal;
}

/** Answer to such a question. */
export interface ModelAnswer {
  text: string;
  /** `provider/model` that answered last. */
  model: string;
  /** Everything that followed the question: calls of tools, their results, the answer itself. */
  messages: ModelMessage[];
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
  /**
   * The full reference of a model that this agent may run with. `agentId` unset: the default agent.
   * @throws {SvcError} `unknown-agent`, `invalid-model`, `model-not-allowed`
   */
  checkModel(choice: { agentId?: string; model: string }): Promise<string>;
  /**
   * Parts of a prompt that every model reads which may answer: `model`, else that of the session, else those of the agent with its fallbacks. Empty where the
   * provider of one does not say. @throws as `run`
   */
  modelInput(choice: { agentId?: string; sessionKey?: string; model?: string }): Promise<ModelInput[]>;
  /**
   * Asks a model one question; nothing of it is stored. Takes at most 120 s, retries, fallbacks and tools included. The embedded model is never asked.
   * @throws {SvcError} `model-cannot-read` when no model is known that reads all of it; a model fault; as `run`
   */
  ask(question: ModelQuestion): Promise<ModelAnswer>;
  /**
   * Shows a line in the agent's name to the clients that follow a session. Nothing is stored, no model reads it, and no channel gets it.
   * @throws as `run`
   */
  notice(note: { agentId?: string; sessionKey: string; text: string }): Promise<void>;
  /**
   * The command that a message is: `/help`, `/status`, `/stop`, `/queue <mode>`, `/model`, `/think`, `/compact`, `/usage`, `/tools`, a trigger of `session.resetTriggers`, or one of a plugin
   * (`ChatCommand`). `rest`: the message for the new transcript behind a trigger; run that with `transcript: "fresh"`. Undefined for a message that is for the agent. Who may command is for the
   * caller to say; `isForOwners`: on a channel only those of `commands.ownerAllowFrom`.
   */
  commandOf(message: string):
    | {
        name: "help" | "status" | "stop" | "queue" | "model" | "think" | "compact" | "usage" | "tools" | "new" | "reset" | "plugin";
        rest: string;
        isForOwners?: true;
      }
    | undefined;
  /**
   * Does what a message of a channel commands, once for a `key`; only `/compact` calls a model, for its summary. Resolves with the answer for its sender, undefined when it is no
   * command. `tools`, `isOwner` and `place`: those of a run of the sender. @throws as `run`
   */
  command(request: {
    key: string;
    agentId: string;
    sessionKey: string;
    message: string;
    tools?: RunRequest["tools"];
    isOwner?: boolean;
    place?: MessageRoute;
    /** Author on a channel, as `irc:kim`; for records. */
    by?: string;
  }): Promise<{ text: string } | undefined>;
  /**
   * Appends a message in the agent's name to a session, the main one by default, which is made when it is missing; no model is called. Resolves when it is
   * durable and was told. An `id` the transcript has already adds nothing: `isKnown`.
   * @throws as `run`
   */
  inject(note: {
    agentId?: string;
    sessionKey?: string;
    text: string;
    id: string;
    label?: string;
  }): Promise<{ messageId: string; isKnown: boolean }>;
  /**
   * Puts an event into the next prompt of a session, as a `System:` line. Resolves when it is durable; one that says the same as the newest that waits is
   * `coalesced`. To be part of another commit, write the op `systemEvent.add` of the store and call `wake`.
   * @throws {SvcError} `text-required`, `session-needs-now`, `system-events-full`, and as `run`
   */
  systemEvent(request: SystemEventRequest): Promise<"queued" | "coalesced">;
  /**
   * Asks for a heartbeat at once; requests within 250 ms are one, and a session at work is woken when it is free. With `next-heartbeat` nothing happens:
   * the timer comes round. @throws as `run`
   */
  wake(request: { agentId?: string; sessionKey?: string; reason: string; mode: WakeMode; isOwn?: boolean }): void;
  /**
   * Removes what a request without a session of its own, or a run of a job, has left: the session that was made for it, as long as nobody has used, named or pinned it since, and the
   * row of the run unless it is repeatable. Does nothing for sessions of others, or while `session.maintenance.mode` is not `enforce`.
   */
  forget(request: { runId: string; sessionKey: string; sessionId: string }): Promise<void>;
  /**
   * Whether policy lets a tool of this name through, registered or not: the lists of `gateway.tools` for a client `outside`, and the policy of the agent where
   * one is named. @throws {SvcError} `unknown-agent`
   */
  isToolAllowed(name: string, where: { agentId?: string; outside?: { isOwner: boolean } }): boolean;
  /** Tells those who listen (`tool.refused`) that a client outside asked for a tool that it does not get. @returns the error for it, `tool-not-found` */
  refuseTool(name: string, target: Pick<ToolInvocation, "agentId" | "sessionKey" | "outside">): Error;
  /** Runs one tool under the agent's policy. @throws {SvcError} `tool-not-found`, `invalid-tool-args`, `tool-blocked` */
  invokeTool(name: string, args: unknown, target: ToolInvocation): Promise<ToolResult>;
}
