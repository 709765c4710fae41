import type { DeliveryRow, DeliveryState, JsonObject } from "svc/sdk";
import type { Action } from "../action.ts";
import type { Completion } from "./completion.ts";
import type { TickFacts } from "./runner.ts";

/** Scope and key under which a repeat of an agent action is the same action. */
export interface IdempotencyKey {
  /** Identity of the caller and path; no secret in it. */
  scope: string;
  /** 1–256 characters; of a fan-out with the place of the item. */
  key: string;
}

/** An action that is to be made durable. */
export interface Submission {
  action: Action;
  /** Idempotency key of agent actions; wakes have none. */
  idempotency?: IdempotencyKey;
}

/** Result of an accepted delivery. */
export type Accepted =
  | { kind: "agent"; runId: string; isReplay: boolean }
  | { kind: "wake"; mode: "now" | "next-heartbeat"; eventOutcome: "queued" | "coalesced" };

/** Accepted hook actions: stored first, carried out after, each step once as far as that can be known. */
export interface Deliveries {
  /**
   * Makes all of them durable in one transaction, then they go their way. Resolves after fsync.
   * @throws {SvcError} `deliveries-full`, `system-events-full`, `storage-*`, `draining`: nothing is stored then
   */
  accept(submissions: readonly Submission[]): Promise<Accepted[]>;
  /** Resolves when the action has ended. Rejects with the signal's reason; that ends the wait, not the action. */
  completion(runId: string, signal: AbortSignal): Promise<Completion>;
  /** @throws {SvcError} `unknown-delivery`, `delivery-state` unless it has failed or expired and its payload is still there */
  retry(uid: string): Promise<void>;
  /** Gives up one that waits: it ends as failed, with a note. @throws {SvcError} `unknown-delivery`, `delivery-state` */
  drop(uid: string): Promise<void>;
  /** Begins to carry out what is there: first what an earlier boot left behind. */
  start(): Promise<void>;
  /** Takes nothing on any more, waits for the steps under way, 4 s at most. Rows stay. */
  stop(): Promise<void>;
  /** Timer over waiting actions; restarted if it has died. Undefined while nothing is carried out. */
  tick(): TickFacts | undefined;
}

/** Summary of a row for operators; never includes the payload's text unless `show` asks for it. */
export interface DeliverySummary {
  uid: string;
  kind: "agent" | "wake";
  state: DeliveryState;
  attempt: number;
  path: string;
  mapping?: string;
  name?: string;
  agentId: string;
  lane: string;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
  notBefore?: number;
  steps: DeliveryRow["steps"];
  result?: JsonObject;
}
