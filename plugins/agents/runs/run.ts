import { randomUUID } from "node:crypto";
import type { AgentInfo, Disposable, QueueMode, RunEvent, RunOrigin, RunRequest, Usage } from "svc/sdk";
import { type HeartbeatRun, MAX_TOOL_CALLS } from "../heartbeat/heartbeat-run.ts";
import { createReplyFilter } from "../heartbeat/reply-filter.ts";
import type { ModelRef } from "../models/choice.ts";
import { addUsage, noUsage } from "../models/turn.ts";
import { RunTrace } from "../traces/run-trace.ts";
import type { StoredAside } from "../traces/stored-trace.ts";
import { EventLog } from "./event-log.ts";
import { type AbortReason, RunAborted } from "./failure.ts";
import { createFrameStripper } from "./frame-stripper.ts";
import type { LaneJob } from "./lanes.ts";
import type { StoredOutcome } from "./outcome.ts";

export interface RunInit {
  id: string;
  agent: AgentInfo;
  sessionKey: string;
  sessionId: string;
  request: RunRequest;
  /** Method whose keys the id belongs to; absent when another plugin started the run. */
  family: "agent" | "chat" | undefined;
  /** Checked when the request was accepted. */
  model: ModelRef | undefined;
  /** Queue mode of a message from a conversation; other runs wait for a turn of their own and are never joined or left out. */
  mode?: QueueMode | undefined;
  spawnedBy?: string | undefined;
  acceptedAt: number;
  /** The same moment by the monotonic clock. */
  arrivedAt: number;
  heartbeat?: HeartbeatRun | undefined;
  /** People who have a word in what it does. */
  origin: RunOrigin;
}

/** One run of this process, from its acceptance until it is settled. Holds state, decides nothing. */
export class Run {
  readonly id: string;
  readonly agent: AgentInfo;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly request: RunRequest;
  readonly family: RunInit["family"];
  readonly model: ModelRef | undefined;
  readonly mode: QueueMode | undefined;
  readonly spawnedBy: string | undefined;
  readonly acceptedAt: number;
  readonly arrivedAt: number;
  readonly heartbeat: HeartbeatRun | undefined;
  readonly origin: RunOrigin;
  /** Fields of each event of the run. */
  readonly eventIds: Omit<RunEvent, "runId" | "seq" | "stream" | "ts" | "data"> & { spawnedBy?: string };

  phase: "queued" | "running" | "ending" | "settled" = "queued";
  startedAt: number | undefined;
  /** Last number given to an event of this run. */
  seq = 0;
  provider: string | undefined;
  modelId: string | undefined;
  usage: Usage = noUsage;
  /** Tokens of the last request and its answer. */
  contextTokens: number | undefined;
  /** The message being written. */
  itemId = "";
  itemText = "";
  /** Reasoning of the message being written, and of those before it. */
  itemReasoning = "";
  readonly reasonings: string[] = [];
  /** A piece of a call of a client tool was shown. */
  hasToolInput = false;
  /** Text that people may see: without the acknowledgement tokens of the agent, and without frames of external text. */
  shownText = "";
  /** Texts of the finished assistant messages. */
  readonly texts: string[] = [];
  /** Texts of them that are shown. */
  readonly shownTexts: string[] = [];
  toolCallsLeft: number;
  /** Calls of tools that the run may not call. */
  refusedCalls = 0;
  /** Connections that started or joined the run. */
  readonly participants = new Set<string>();
  readonly log = new EventLog();
  readonly trace = new RunTrace();
  readonly done: Promise<StoredOutcome>;
  job: LaneJob | undefined;
  hold: Disposable | undefined;
  /** True when another turn was running. */
  waited = false;
  /** Its outcome once it has succeeded, stored or not. */
  success: StoredOutcome | undefined;
  /** The run whose turn answers this one's message, too. */
  lead: Run | undefined;
  /** Runs whose messages this turn answers, too, in order of acceptance. */
  followers: Run[] = [];
  /** Note about messages that were left out before this one, as the model reads it. */
  leftOutNote: string | undefined;
  /** Line that models read before its message, as its row keeps it. */
  context: string | undefined;
  /** The agent had its chance to write down what the compaction of this run may lose. */
  hasFlushed = false;
  /** Too many were waiting: it never gets a turn. */
  isLeftOut = false;

  readonly #controller = new AbortController();
  #settle: (outcome: StoredOutcome) => void = () => undefined;
  #aborted: AbortReason | undefined;
  #filter: ReturnType<typeof createReplyFilter>;
  /** Units of the message that have passed the filter. */
  #passed = 0;
  #frames = createFrameStripper();
  /** White space at the start of the message, which waits for a word. */
  #lead = "";

  constructor(init: RunInit) {
    this.id = init.id;
    this.agent = init.agent;
    this.sessionKey = init.sessionKey;
    this.sessionId = init.sessionId;
    this.request = init.request;
    this.family = init.family;
    this.model = init.model;
    this.mode = init.mode;
    this.spawnedBy = init.spawnedBy;
    this.acceptedAt = init.acceptedAt;
    this.arrivedAt = init.arrivedAt;
    this.heartbeat = init.heartbeat;
    this.origin = init.origin;
    this.eventIds = {
      sessionKey: init.sessionKey,
      agentId: init.agent.id,
      sessionId: init.sessionId,
      ...(init.heartbeat ? { isHeartbeat: true } : {}),
      ...(init.spawnedBy === undefined ? {} : { spawnedBy: init.spawnedBy }),
    };
    this.toolCallsLeft = init.heartbeat ? MAX_TOOL_CALLS : Number.POSITIVE_INFINITY;
    this.#filter = createReplyFilter(init.heartbeat?.ackMaxChars);
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    if (init.request.actor.connId !== undefined) this.participants.add(init.request.actor.connId);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Text that people wrote for this turn. */
  get prompt(): string {
    return [this, ...this.followers].map((run) => run.request.message).join("\n\n");
  }

  get aborted(): AbortReason | undefined {
    return this.#aborted;
  }

  /** The first reason counts; nothing happens to a run whose end is being stored. */
  abort(reason: AbortReason): boolean {
    if (this.phase === "ending" || this.phase === "settled" || this.#aborted) return false;
    this.#aborted = reason;
    this.#controller.abort(new RunAborted(reason));
    return true;
  }

  beginMessage(): void {
    this.itemId = randomUUID();
    this.itemText = "";
    this.itemReasoning = "";
    this.shownText = "";
    this.#filter = createReplyFilter(this.heartbeat?.ackMaxChars);
    this.#passed = 0;
    this.#frames = createFrameStripper();
    this.#lead = "";
  }

  think(delta: string): void {
    this.itemReasoning += delta;
  }

  /** @returns what is now to be seen besides */
  write(delta: string): string {
    this.itemText += delta;
    return this.#show(this.#frames.push(this.#added(this.#filter.during(this.itemText), delta)));
  }

  /** Nothing more is written to this message. @returns what was held back until now and may be seen */
  completeText(): string {
    return this.#show(this.#frames.push(this.#added(this.#filter.end(this.itemText))) + this.#frames.end());
  }

  /** @param delta end of the message: to slice the message itself would copy the whole of it each time */
  #added(passed: string, delta = ""): string {
    const length = passed.length - this.#passed;
    const isDelta = length === delta.length && passed.length === this.itemText.length;
    this.#passed = passed.length;
    return isDelta ? delta : length === 0 ? "" : passed.slice(-length);
  }

  /** A message of white space only is never shown: nobody could take it back. */
  #show(added: string): string {
    if (this.shownText === "" && added.trim() === "") {
      this.#lead += added;
      return "";
    }
    const shown = this.#lead + added;
    this.#lead = "";
    this.shownText += shown;
    return shown;
  }

  /** Completes the message that is being written. */
  endMessage(): void {
    if (this.itemText !== "") this.texts.push(this.itemText);
    if (this.shownText !== "") this.shownTexts.push(this.shownText);
    if (this.itemReasoning !== "") this.reasonings.push(this.itemReasoning);
    this.itemText = "";
    this.itemReasoning = "";
    this.shownText = "";
  }

  /** Whether anything readable was shown so far. */
  get visible(): boolean {
    return this.itemText !== "" || this.texts.length > 0 || this.hasToolInput;
  }

  /** Counts a request whose answer does not belong to the conversation. */
  countAside(usage: Usage, what: StoredAside["what"]): void {
    this.usage = addUsage(this.usage, usage);
    this.trace.aside({ what, usage });
  }

  /** Counts one request of a model. */
  count(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
    if (usage.total > 0) this.contextTokens = usage.total;
  }

  settle(outcome: StoredOutcome): void {
    this.phase = "settled";
    this.log.end();
    this.#settle(outcome);
  }
}
