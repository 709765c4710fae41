import { randomUUID } from "node:crypto";
import {
  type ApprovalKind,
  type ApprovalQuestion,
  type ApprovalRecord,
  type ClientInfo,
  commonErrors,
  formatIssues,
  messageOf,
  methodOf,
  type PluginContext,
} from "svc/sdk";
import { hasScope } from "svc/sdk/internal";
import { type Board, createBoard, type Question } from "./board.ts";
import { shownRequest } from "./display.ts";
import { ownerTeller, type TellOwner } from "./in-chat.ts";
import { approvalsMethods } from "./protocol-methods.ts";

const DEFAULT_TIMEOUT_MS: Record<ApprovalKind, number> = { exec: 1_800_000, plugin: 120_000 };

/** Takes questions, puts them before those who may decide, and passes their answers on. */
export interface Desk {
  readonly board: Board;
  /**
   * Puts a question; when nobody is there who could decide it ends at once.
   * @param asker who asks: a user, a device or an address, or `service`
   * @throws {SvcError} `approval-exists`, `busy`
   */
  ask(question: ApprovalQuestion, asker: string): Question;
  /** The same for what another plugin passes; the owner is asked in the chat that it is about, too. @throws {SvcError} `invalid-params` too */
  askChecked(question: ApprovalQuestion): Promise<Question>;
}

export function createDesk(ctx: PluginContext): Desk {
  const gateway = ctx.service("gateway@1");
  const board = createBoard(
    {
      notKept({ id, approvalKind: kind }, error) {
        ctx.logger.warn("an approval for good was not stored; it counts once", { id, kind, error: messageOf(error) });
      },
      requested(record) {
        // Never the command: logs are read by agents.
        ctx.logger.info("approval requested", { id: record.id, kind: record.approvalKind });
        ctx.emit(record.approvalKind === "exec" ? "exec.approval.requested" : "plugin.approval.requested", record);
      },
      resolved({ record, outcome, resolvedBy }) {
        const decision = outcome.decision ?? "deny";
        const { id, approvalKind, request } = record;
        const { terminalReason: reason, message } = outcome;
        if (reason === "no-route") ctx.logger.warn(`approval denied: ${message}`, { id, kind: approvalKind, reason });
        else {
          const by = resolvedBy === null ? {} : { by: resolvedBy };
          ctx.logger.info("approval resolved", { id, kind: approvalKind, decision, ...by, ...(reason ? { reason } : {}) });
        }
        const payload = { id, decision, resolvedBy, ts: ctx.clock.now(), request, ...(reason ? { terminalReason: reason } : {}) };
        ctx.emit(approvalKind === "exec" ? "exec.approval.resolved" : "plugin.approval.resolved", payload);
        const { agentId, sessionKey } = request;
        void ctx.runHook("approval.resolved", {
          id,
          kind: approvalKind,
          decision,
          by: resolvedBy,
          ...(reason === undefined ? {} : { reason }),
          ...(agentId === undefined ? {} : { agentId }),
          ...(sessionKey === undefined ? {} : { sessionKey }),
        });
      },
    },
    ctx.timers,
    () => ctx.clock.now(),
  );
  const ask = (question: ApprovalQuestion, asker: string, tellOwner?: TellOwner): Question => {
    const { kind } = question;
    const timeoutMs = question.timeoutMs ?? DEFAULT_TIMEOUT_MS[kind];
    const createdAtMs = ctx.clock.now();
    const record: ApprovalRecord = {
      approvalKind: kind,
      id: kind === "exec" ? (question.id ?? randomUUID()) : `plugin:${randomUUID()}`,
      request: shownRequest(question),
      createdAtMs,
      expiresAtMs: createdAtMs + timeoutMs,
    };
    const put = board.put(record, { asker, timeoutMs, keep: question.keep });
    const hasClient = () => [...gateway.clients()].some((client) => mayDecide(client, kind));
    const isTold = tellOwner?.(record).catch((error: unknown) => {
      ctx.logger.warn("an approval could not be asked in its chat", { id: record.id, error: messageOf(error) });
      if (!hasClient()) board.close(record.id, "no-route");
    });
    if (isTold === undefined && !hasClient()) board.close(record.id, "no-route");
    return put;
  };
  return {
    board,
    ask,
    async askChecked(question) {
      check(question);
      return ask(question, "service", await ownerTeller(ctx, question.request));
    },
  };
}

/** Has the scope, and said that it shows such questions. */
function mayDecide({ scopes, caps }: ClientInfo, kind: ApprovalKind): boolean {
  return hasScope(scopes, "operator.approvals") && (caps.includes("approvals") || caps.includes(`${kind}-approvals`));
}

function check({ kind, request, id, timeoutMs }: ApprovalQuestion): void {
  const { method, params } = methodOf(approvalsMethods, kind === "exec" ? "exec.approval.request" : "plugin.approval.request");
  const asSent = { ...request, ...(id !== undefined && kind === "exec" ? { id } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const parsed = params.safeParse(asSent);
  if (!parsed.success) throw commonErrors.invalidParams({ method, issues: formatIssues(parsed.error.issues) });
}
