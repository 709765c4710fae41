import type { SvcConfig, WakeMode } from "svc/sdk";

export type HooksConfig = SvcConfig["hooks"];

/** Origin of an action: the request and the rule it came from. */
interface FromHook {
  /** Below `hooks.path`: `agent`, `wake`, `github`. */
  path: string;
  /** Id of the mapping; unset for `wake` and `agent`. */
  mapping?: string;
  /** The agent that was resolved; it exists. */
  agentId: string;
  /** The caller named an agent that is not there: this one was taken instead. */
  isFallbackAgent: boolean;
  /**
   * SHA-256, hex, over the resolved fields before any frame was put around a text: the same request gives the same, although each frame has an id of its own.
   */
  fingerprint: string;
}

/** A run of an agent, with everything resolved: mapping, template, transform, policy. */
export interface AgentAction extends FromHook {
  kind: "agent";
  /** Framed as external content, unless the mapping says otherwise. */
  message: string;
  /** Hook's name, one line, at most 500 characters. */
  name: string;
  /** Canonical full key. */
  sessionKey: string;
  sessionMode: "isolated" | "persistent";
  wakeMode: WakeMode;
  deliver: boolean;
  /** `last`, or a channel id that was known at the accept. */
  channel: string;
  to?: string;
  /** Full reference that the agent may use. */
  model?: string;
  thinking?: string;
  timeoutMs?: number;
}

/** A text for the next prompt of a session. */
export interface WakeAction extends FromHook {
  kind: "wake";
  /** Framed as external content, unless the mapping says otherwise. */
  text: string;
  /** The text before the frame: two events of the same content are one. */
  same: string;
  mode: WakeMode;
  /** Unset: the main session of the agent. */
  sessionKey?: string;
}

export type Action = AgentAction | WakeAction;

/** Refusal of an action. `message` goes to the caller. */
export interface Refusal {
  status: 400 | 413 | 500 | 503;
  message: string;
  /** Reason, for the log only. */
  reason?: string;
  retryAfterMs?: number;
}

/** One authenticated request, read. */
export interface HookRequest {
  /** Below `hooks.path`, without slashes at either end. */
  path: string;
  url: URL;
  /** Lower-case names. Credentials and signatures are taken out already. */
  headers: Readonly<Record<string, string>>;
  /** Any JSON value; an object for `wake` and `agent`. */
  payload: unknown;
}

/** Result of resolving a request. `none`: nothing to do (204). `unmapped`: nobody's path (404). Several items only with `forEach`. */
export type Resolved =
  | { kind: "none" | "unmapped" }
  | { kind: "actions"; mapping?: string; isFanOut: boolean; items: Array<{ action: Action } | { refusal: Refusal }>; warnings: string[] };
