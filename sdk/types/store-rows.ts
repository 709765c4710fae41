import type { JsonObject } from "./common.ts";
import type { MessageRoute } from "./messaging.ts";
import type { Usage, VendorMeta } from "./model.ts";

/** State of the last run of a session. */
export type SessionStatus = "queued" | "running" | "done" | "failed" | "killed" | "timeout" | "interrupted";

/** Effect of a message that meets a running turn. */
export type QueueMode = "steer" | "followup" | "collect" | "interrupt";

/** One session: a key, its current transcript (`sessionId`) and what is remembered about it. Times are epoch ms. */
export interface SessionRow {
  key: string;
  sessionId: string;
  agentId: string;
  kind: "direct" | "group" | "global" | "unknown";
  createdAt: number;
  updatedAt: number;
  sessionStartedAt: number;
  lastInteractionAt?: number;
  status?: SessionStatus;
  lastRunId?: string;
  startedAt?: number;
  endedAt?: number;
  /** Last message of any kind, those of background runs included. */
  lastActivityAt?: number;
  chatType?: "direct" | "group" | "channel" | "thread";
  channel?: string;
  label?: string;
  category?: string;
  derivedTitle?: string;
  lastMessagePreview?: string;
  model?: string;
  thinkingLevel?: string;
  verboseLevel?: string;
  reasoningLevel?: string;
  elevatedLevel?: string;
  fastMode?: boolean;
  responseUsage?: string;
  sendPolicy?: "allow" | "deny";
  groupActivation?: "mention" | "always";
  execHost?: string;
  execSecurity?: string;
  execAsk?: string;
  /** Effect of a message that meets a running turn (`/queue`); unset: `messages.queue.mode`. */
  queueMode?: QueueMode;
  /** Where the session last heard from somebody on a channel: `channel: "last"`. */
  lastRoute?: MessageRoute;
  /** The session it was made from. */
  parentSessionKey?: string;
  /** Transcripts that its own begins with, when it was forked. */
  branch?: SessionBranch;
  /** The session whose run made it. */
  spawnedBy?: string;
  /** Tokens of all requests of this transcript. */
  inputTokens: number;
  outputTokens: number;
  /** Tokens of the last request and its answer: how full the context is. */
  totalTokens: number;
  /** Cost of this transcript in billionths of a US dollar, as far as prices are known; absent: none is. */
  costNanos?: number;
  archived: boolean;
  pinned: boolean;
  unread: boolean;
}

/** Origin of a forked transcript. */
export interface SessionBranch {
  /** `sessionId` of the transcript that the first fork was made of. */
  root: string;
  /** Forks that led to it, the oldest first; each begins behind the one before it. */
  path: BranchPoint[];
}

/** Place where a transcript goes on differently from the one it was forked from. */
export interface BranchPoint {
  /** The transcript it was forked from. */
  sessionId: string;
  /** Record of that transcript in whose place it goes on. */
  seq: number;
  /** First record of its own. */
  at: number;
  /** Time of the fork, epoch ms. */
  ts: number;
}

/** One part of a transcript record. */
export type MessageBlock =
  | { type: "text"; text: string; meta?: VendorMeta }
  /** An empty `data`: a picture that was left out. */
  | { type: "image"; mimeType: string; data: string }
  /** A document or a recording; an empty `data`: it was left out. */
  | { type: "file"; mimeType: string; data: string; fileName?: string }
  | { type: "reasoning"; text: string; redacted?: true; meta?: VendorMeta }
  | { type: "toolCall"; id: string; name: string; arguments: unknown; meta?: VendorMeta };

/** One transcript record. `seq` is 1-based inside a session and given by the store. */
export interface MessageRow {
  id: string;
  seq: number;
  sessionId: string;
  ts: number;
  role: "user" | "assistant" | "toolResult";
  content: MessageBlock[];
  runId?: string;
  /** `toolResult` only. */
  toolCallId?: string;
  toolName?: string;
  isError?: boolean;
  /** Machine-readable form of a tool result. */
  details?: unknown;
  stopReason?: string;
  aborted?: boolean;
  usage?: Usage;
  provider?: string;
  model?: string;
  /** `inject`, `interrupted`, … */
  kind?: string;
}

/** State of a run. */
export type RunState = "queued" | "running" | "ok" | "error" | "aborted" | "timeout" | "interrupted";

/** One agent run. Its id is the idempotency key of the request that started it. */
export interface RunRow {
  runId: string;
  sessionKey: string;
  sessionId: string;
  agentId: string;
  state: RunState;
  trigger: string;
  bootId: string;
  createdAt: number;
  startedAt?: number;
  endedAt?: number;
  outcome?: JsonObject;
}

/** An answer kept so that a repeated request gets the same. Times are epoch ms. */
export interface IdempotencyRow {
  family: string;
  key: string;
  value: JsonObject;
  createdAt: number;
  expiresAt: number;
}

/** Something an agent is to read with the next prompt of a session. `id` grows and is given by the store. */
export interface SystemEventRow {
  id: number;
  sessionKey: string;
  text: string;
  /** Two events of the same content are one; the text before a frame was put around it. Default: `text`. */
  same?: string;
  /** Origin: `rpc`, `hook`, `cron`, `spawn`; what a helper reports names behind a colon those who had a word in the run that asked, as in `spawn:person`. */
  source: string;
  ts: number;
  /** A run was asked for at once; kept so that a restart does not forget it. */
  wake: boolean;
}

/** Content of a delivery: an action of a webhook, a message for a channel, or one from a channel. */
export type DeliveryDir = "hook-agent" | "hook-wake" | "out" | "in";

/** State of a delivery. `sending` and `uncertain` (the platform may have it) are states of `out` only; the last three are ends. */
export type DeliveryState = "accepted" | "running" | "sending" | "uncertain" | "done" | "failed" | "expired";

/** Accepted work. Times are epoch ms; `id` grows and is given by the store. */
export interface DeliveryRow {
  id: number;
  /** Public id, 1–200 characters; `runId` for agent actions. */
  uid: string;
  dir: DeliveryDir;
  /** Rows of one lane are carried out one after the other, oldest first: canonical session key, or `channel:account:to`. */
  lane: string;
  /** One row for each (`idemScope`, `idemKey`, `fingerprint`). */
  idemScope?: string;
  idemKey?: string;
  fingerprint?: string;
  /** Work to do, at most 256 KiB of JSON; absent once it is done, in lists, in `known` and in errors. */
  payload?: JsonObject;
  state: DeliveryState;
  /** Tries begun; 0 until it is claimed. */
  attempt: number;
  /** Not before this time; unset: at once. */
  notBefore?: number;
  /** The boot that has claimed it. */
  leaseBoot?: string;
  /** Finished steps, by name: a step listed here is not repeated. */
  steps: Readonly<Record<string, JsonObject>>;
  /** Outcome, or reason why the last attempt failed; small, safe to show. */
  result?: JsonObject;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
}

/** A delivery as it is handed over. */
export type NewDelivery = Pick<DeliveryRow, "uid" | "dir" | "lane" | "idemScope" | "idemKey" | "fingerprint" | "expiresAt"> & {
  payload: JsonObject;
  /** Done with this commit already (a wake, whose event is part of it); default: accepted. */
  done?: JsonObject;
};

/** Filter for listing deliveries, newest first; conditions are joined by "and". */
export interface DeliveryQuery {
  dirs?: readonly DeliveryDir[];
  states?: readonly DeliveryState[];
  /** Only rows with a smaller `id`. */
  before?: number;
  /** 1–1000 */
  limit: number;
}

/** Deliveries by kind and state; only what is there. `bytes`: payloads of those that wait. */
export interface DeliveryCounts {
  byDir: Partial<Record<DeliveryDir, Partial<Record<DeliveryState, number>>>>;
  bytes: number;
}

/** Fields to change; `null` clears one that is optional. */
export type SessionPatch = {
  [Field in keyof SessionRow]?:
    | Exclude<SessionRow[Field], undefined>
    | (Record<never, never> extends Pick<SessionRow, Field> ? null : never);
};
