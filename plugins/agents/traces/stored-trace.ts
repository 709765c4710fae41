import type { ModelInput, ModelMessage, ToolChoice, Usage } from "svc/sdk";

/**
 * A message of a prompt as a trace holds it. The transcript has the texts, so a number is the row that one message was made from, and a pair the first and
 * last of rows that follow each other, each of them one message.
 */
export type StoredMessage = number | readonly [from: number, to: number] | ComposedMessage | LiteralMessage | GivenMessages;

/** A message that is more than one row. */
export interface ComposedMessage {
  rows?: readonly number[];
  /** Texts in front of the rows: a note, or the row of a compaction whose summary it is. */
  notes?: ReadonlyArray<number | string>;
  /** The message of a run that joined the turn. */
  run?: string;
  /** Pictures and files that went with it. */
  media?: number;
}

/** A message that no transcript has. */
export interface LiteralMessage {
  literal: ModelMessage;
  /** Part of its text is left out. */
  cut?: true;
}

/** Messages that a caller sent with its request, as it does each time: they are its own to keep. A letter for the role of each: `u`, `a` or `t`. */
export interface GivenMessages {
  given: string;
}

/** Messages of a prompt, which grow with each turn; a compaction begins another list. */
export interface StoredList {
  messages: StoredMessage[];
  /** Characters of the texts that rows hold, to notice when they are not what was sent. */
  chars: number;
}

/** One request to a model. */
export interface StoredAttempt {
  turn: number;
  provider: string;
  model: string;
  /** Epoch ms. */
  at: number;
  ms: number;
  /** Place of its messages: the list, and how many of it were sent. */
  list: number;
  messages: number;
  /** The agent's own tools were left out. */
  isWithoutTools?: true;
  /** It was told to answer without tools. */
  isLast?: true;
  toolChoice?: ToolChoice;
  /** Content that the model reads. */
  input?: readonly ModelInput[];
  finish?: string;
  toolCalls?: number;
  usage?: Usage;
  fault?: string;
  error?: string;
}

/** One call of a tool; arguments and result are in the transcript. */
export interface StoredToolUse {
  turn: number;
  id: string;
  name: string;
  at: number;
  ms: number;
  /** Part of it before the tool ran: checks, hooks, a person's approval. */
  waitedMs?: number;
  isError?: true;
}

/** A request to a model beside the conversation. */
export interface StoredAside {
  /** A summary of older messages, the chance to write notes before it, or the question of a tool or plugin. */
  what: "summary" | "notes" | "question";
  usage: Usage;
}

/** Names of the blocks that the unchanging part of a prompt is made of. */
export interface StoredPrompt {
  /** Parts of the system prompt, in order, with an empty line between them. */
  system: readonly string[];
  /** The same of the requests that had none of the agent's tools, where there was one. */
  systemWithoutTools?: readonly string[];
  tools?: string;
  clientTools?: string;
  sampling?: string;
  thinking?: string;
}

/** Facts of one run from which its prompts can be shown, with the transcript and the blocks. */
export interface StoredTrace {
  v: 1;
  runId: string;
  agentId: string;
  sessionKey: string;
  sessionId: string;
  trigger: string;
  acceptedAt: number;
  startedAt: number;
  endedAt: number;
  status: "ok" | "error";
  code?: string;
  error?: string;
  stopReason: string;
  provider?: string;
  model?: string;
  usage: Usage;
  /** Runs whose messages it answered, too. */
  joined?: readonly string[];
  prompt?: StoredPrompt;
  lists: StoredList[];
  attempts: StoredAttempt[];
  tools: StoredToolUse[];
  asides?: readonly StoredAside[];
  /** Remarks of plugins on the prompt. */
  remarks?: readonly string[];
  /** Parts that there was no room for, in words. */
  cut?: readonly string[];
}

/** Text that several traces share, stored once under the hash of what it was before secrets were masked. */
export interface StoredBlock {
  text: string;
  /** Characters that it had; absent: it is whole. */
  cutFrom?: number;
}
