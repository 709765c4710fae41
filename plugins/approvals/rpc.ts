import {
  type ApprovalKind,
  type ApprovalOutcome,
  type ApprovalRecord,
  type ClientInfo,
  type JsonObject,
  methodOf,
  type PluginContext,
  type RpcCall,
} from "svc/sdk";
import { notKeptText, type Question, type Resolution } from "./board.ts";
import type { Desk } from "./desk.ts";
import { approvalsMethods } from "./protocol-methods.ts";

/** Both families of approval methods. */
export function registerApprovalMethods(ctx: PluginContext, desk: Desk): void {
  ctx.registerRpc({
    ...methodOf(approvalsMethods, "exec.approval.request"),
    handler: ({ twoPhase, timeoutMs, id, ...request }, call) => {
      const extras = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(id === undefined ? {} : { id }) };
      return answer(desk.ask({ kind: "exec", request: present(request), ...extras }, askerOf(call.client)), twoPhase, call);
    },
  });
  ctx.registerRpc({
    ...methodOf(approvalsMethods, "plugin.approval.request"),
    handler: ({ twoPhase, timeoutMs, ...request }, call) => {
      const extras = timeoutMs === undefined ? {} : { timeoutMs };
      return answer(desk.ask({ kind: "plugin", request: present(request), ...extras }, askerOf(call.client)), twoPhase, call);
    },
  });
  ctx.registerRpc({ ...methodOf(approvalsMethods, "exec.approval.get"), handler: ({ id }) => shown(desk.board.find("exec", id)) });
  ctx.registerRpc({ ...methodOf(approvalsMethods, "plugin.approval.get"), handler: ({ id }) => shown(desk.board.find("plugin", id)) });
  ctx.registerRpc({ ...methodOf(approvalsMethods, "exec.approval.list"), handler: ({ ended }) => listed(desk, "exec", ended) });
  ctx.registerRpc({ ...methodOf(approvalsMethods, "plugin.approval.list"), handler: ({ ended }) => listed(desk, "plugin", ended) });
  ctx.registerRpc({
    ...methodOf(approvalsMethods, "exec.approval.waitDecision"),
    handler: ({ id }, call) => wait(desk.board.find("exec", id), call),
  });
  ctx.registerRpc({
    ...methodOf(approvalsMethods, "plugin.approval.waitDecision"),
    handler: ({ id }, call) => wait(desk.board.find("plugin", id), call),
  });
  const resolve = async (kind: ApprovalKind, params: { id: string; decision: string }, { client }: RpcCall) => {
    const { isKept } = desk.board.resolve(kind, { ...params, by: nameOf(client) });
    return { ok: true, ...((await isKept) ? {} : { warning: notKeptText }) };
  };
  ctx.registerRpc({ ...methodOf(approvalsMethods, "exec.approval.resolve"), handler: (params, call) => resolve("exec", params, call) });
  ctx.registerRpc({ ...methodOf(approvalsMethods, "plugin.approval.resolve"), handler: (params, call) => resolve("plugin", params, call) });
}

/** Answers a requester. A request stays open when its requester's socket closes: others may decide, and `waitDecision` finds the answer. */
function answer(question: Question, twoPhase: boolean | undefined, call: RpcCall): Promise<ApprovalOutcome> {
  const { id, createdAtMs, expiresAtMs } = question.record;
  if (twoPhase) call.accept({ status: "accepted", id, createdAtMs, expiresAtMs });
  return wait(question, call);
}

/** Waits for the decision until the requester's socket is gone. */
function wait({ done }: Question, { signal }: RpcCall): Promise<ApprovalOutcome> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    void done.then((outcome) => {
      signal.removeEventListener("abort", leave);
      resolve(outcome);
    });
  });
}

/** Pending requests, oldest first; on request followed by those that lately ended unanswered, newest first. */
function listed({ board }: Desk, kind: ApprovalKind, ended = false): JsonObject[] {
  const unanswered = ended ? board.unanswered(kind) : [];
  return [
    ...board.list(kind).map((record) => shown({ record })),
    ...unanswered.map((resolution) => shown({ record: resolution.record, resolution })),
  ];
}

function shown({ record, resolution }: { record: ApprovalRecord; resolution?: Resolution }): JsonObject {
  if (!resolution) return { ...record };
  const { outcome, resolvedBy, endedAtMs } = resolution;
  const reason = outcome.terminalReason ? { terminalReason: outcome.terminalReason } : {};
  return { ...record, decision: outcome.decision, resolvedBy, endedAtMs, ...reason };
}

/** Name of the asker, the same however often it connects: else the bound of each asker would be one of each connection. */
function askerOf({ identity, deviceId, remote }: ClientInfo): string {
  return identity ?? deviceId ?? remote;
}

/** Name of the person who decided, as others may know it. */
function nameOf({ identity, deviceId, clientId }: ClientInfo): string {
  return identity ?? deviceId ?? clientId;
}

function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}
