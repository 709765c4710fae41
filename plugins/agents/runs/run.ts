import { randomUUID } from "node:crypto";
import type { AgentInfo, Disposable, RunRequest, Usage } from "svc/sdk";
import type { ModelRef } from "../models/choice.ts";
import { noUsage } from "../models/turn.ts";
import { EventLog } from "./event-log.ts";
import { type AbortReason, RunAborted } from "./failure.ts";
import type { LaneJob } from "./lanes.ts";
import type { StoredOutcome } from "./outcome.ts";

export interface RunInit {
  id: string;
  agent: AgentInfo;
  sessionKey: string;
  sessionId: string;
  request: RunRequest;
  /** Which method's keys the id belongs to; absent when another plugin started the run. */
  family: "agent" | "chat" | undefined;
  /** Checked when the request was accepted. */
  model: ModelRef | undefined;
  acceptedAt: number;
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
  readonly acceptedAt: number;

  phase: "queued" | "running" | "ending" | "settled" = "queued";
  startedAt: number | undefined;
  /** Last number given to an event of this run. */
  seq = 0;
  provider: string | undefined;
  modelId: string | undefined;
  usage: Usage = noUsage;
  /** The message being written. */
  itemId = "";
  itemText = "";
  /** Texts of the finished assistant messages. */
  readonly texts: string[] = [];
  /** Connections that started or joined the run. */
  readonly participants = new Set<string>();
  readonly log = new EventLog();
  readonly done: Promise<StoredOutcome>;
  job: LaneJob | undefined;
  hold: Disposable | undefined;

  readonly #controller = new AbortController();
  #settle: (outcome: StoredOutcome) => void = () => undefined;
  #aborted: AbortReason | undefined;

  constructor(init: RunInit) {
    this.id = init.id;
    this.agent = init.agent;
    this.sessionKey = init.sessionKey;
    this.sessionId = init.sessionId;
    this.request = init.request;
    this.family = init.family;
    this.model = init.model;
    this.acceptedAt = init.acceptedAt;
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    if (init.request.actor.connId !== undefined) this.participants.add(init.request.actor.connId);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
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
  }

  /** What was written last becomes a finished message. */
  endMessage(): void {
    if (this.itemText !== "") this.texts.push(this.itemText);
    this.itemText = "";
  }

  /** Whether anything readable was shown so far. */
  get visible(): boolean {
    return this.itemText !== "" || this.texts.length > 0;
  }

  settle(outcome: StoredOutcome): void {
    this.phase = "settled";
    this.log.end();
    this.#settle(outcome);
  }
}
