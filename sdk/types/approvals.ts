/** Kind of question: about a command, or from a plugin. */
export type ApprovalKind = "exec" | "plugin";
/** Answers a person may give; `allow-always` only where the request offers it. */
export type ApprovalDecision = "allow-once" | "allow-always" | "deny";

/** A command that waits for a person. At least one of `command` and `commandArgv`. */
export interface ExecApprovalRequest {
  command?: string;
  commandArgv?: readonly string[];
  cwd?: string;
  host?: string;
  agentId?: string;
  sessionKey?: string;
  /** Policy behind the question: `on-miss` offers `allow-always`, because the asker then has a list to put the command on. */
  ask?: "off" | "on-miss" | "always";
  security?: "deny" | "allowlist" | "full";
}

/** Something a plugin wants to do that waits for a person. */
export interface PluginApprovalRequest {
  /** At most 80 characters. */
  title: string;
  /** At most 512 characters. */
  description: string;
  pluginId?: string;
  severity?: "info" | "warning" | "critical";
  toolName?: string;
  toolCallId?: string;
  agentId?: string;
  sessionKey?: string;
  /** Default: `allow-once` and `deny`; `deny` is always possible. */
  allowedDecisions?: readonly ApprovalDecision[];
}

/** A question, with how long it stands. `timeoutMs`: default 30 min for `exec` (at most 24 h), 2 min for `plugin` (at most 10 min). */
export type ApprovalQuestion = ({ kind: "exec"; request: ExecApprovalRequest } | { kind: "plugin"; request: PluginApprovalRequest }) & {
  /** The asker's own id for an `exec` question; default: a fresh one. Ids of `plugin` questions begin with `plugin:`. */
  id?: string;
  timeoutMs?: number;
  /**
   * Stores that it is allowed from now on; called once after `allow-always`, and has 10 s. Where it fails, the outcome is `allow-once`, and whoever answered is told.
   */
  keep?: () => Promise<void>;
};

/** An open question, as events and lists show it. Times are epoch ms. */
export interface ApprovalRecord {
  approvalKind: ApprovalKind;
  id: string;
  request: (ExecApprovalRequest | PluginApprovalRequest) & { readonly allowedDecisions: readonly ApprovalDecision[] };
  createdAtMs: number;
  expiresAtMs: number;
}

/** Outcome of a question. */
export interface ApprovalOutcome {
  id: string;
  /** Null: nobody decided; treat it as `deny`. */
  decision: ApprovalDecision | null;
  createdAtMs: number;
  expiresAtMs: number;
  /** Reason why nobody decided: no approver was connected, time ran out, the requester gave up, or the gateway stopped. */
  terminalReason?: "no-route" | "expired" | "cancelled" | "stopping";
  /** The same as a sentence, with what to do. */
  message?: string;
}

/** Service `approvals@1`. */
export interface Approvals {
  /**
   * Asks every connected approver; resolves when one has answered, nobody can, or the time is over.
   * @param options.signal ends the question; the promise then rejects with the signal's reason
   * @throws {SvcError} `invalid-params` for texts beyond their limits, `approval-exists` for an id in use, `busy` when 256 questions are open
   */
  request(question: ApprovalQuestion, options?: { signal?: AbortSignal }): Promise<ApprovalOutcome>;
}
