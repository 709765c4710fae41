import { randomUUID } from "node:crypto";
import { agentSetting, type JsonObject, methodOf, type ParamsOf, type PluginContext, type RpcCall, type SessionRow } from "svc/sdk";
import { createReplays } from "svc/sdk/internal";
import { type Kit, runsOf } from "../kit.ts";
import { splitRef } from "../models/choice.ts";
import { isAdminPatch } from "../protocol/methods/sessions.ts";
import { servedMethods } from "../protocol/methods.ts";
import { scopeOfMessage } from "../runs/chat-command.ts";
import type { Runner } from "../runs/runner.ts";
import { deleteSession, resetSession } from "../sessions/changes.ts";
import { compactSession } from "../sessions/compact.ts";
import { createSession } from "../sessions/create.ts";
import { existing } from "../sessions/find.ts";
import { forkSession } from "../sessions/fork.ts";
import { type MaintenanceReport, maintainSessions } from "../sessions/maintenance.ts";
import { patchSession } from "../sessions/patch.ts";
import { wireSession } from "../sessions/wire.ts";
import { sendChat } from "./send.ts";

/** The `sessions.*` methods that change a session or begin and stop its runs. */
export function registerSessionChanges(ctx: PluginContext, kit: Kit, runner: Runner): void {
  const full = (key: string) => kit.directory.resolve({ sessionKey: key }).sessionKey;
  const path = () => kit.store().status().endpoint;
  const created = createReplays({ monotonic: () => ctx.clock.monotonic() });
  const forked = createReplays({ monotonic: () => ctx.clock.monotonic() });
  const scopeOf = (message = "") => scopeOfMessage(kit, message);

  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.create"),
    scopeFor: ({ message }) => scopeOf(message),
    handler: (params, call) => created.run(params.idempotencyKey, () => create(params, { call, kit, runner })),
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.fork"),
    handler: ({ key, idempotencyKey, ...wanted }) =>
      forked.run(idempotencyKey, async () => {
        const { session, copied } = await forkSession(kit, { ...wanted, key: full(key) });
        return { ok: true, key: session.key, sessionId: session.sessionId, entry: wireSession(kit, session), copied };
      }),
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.send"),
    scopeFor: ({ message }) => scopeOf(message),
    handler: async ({ key, idempotencyKey, ...message }, call) => {
      const { key: sessionKey, agentId } = await existing(kit, full(key));
      return sendChat({ ...message, sessionKey, agentId, idempotencyKey: idempotencyKey ?? randomUUID() }, { call, kit, runner });
    },
  });
  ctx.registerRpc({ ...methodOf(servedMethods, "sessions.abort"), handler: (params) => abort(params, { kit, runner }) });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.patch"),
    scopeFor: (params) => (isAdminPatch(params) ? "admin" : "write"),
    handler: async ({ key, ...patch }) => {
      const entry = await patchSession(kit, full(key), patch);
      return { ok: true, path: path(), key: entry.key, entry: wireSession(kit, entry), resolved: resolved(kit, entry) };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.reset"),
    handler: async ({ key, reason, expectedSessionId }) => {
      const entry = await resetSession(kit, full(key), { reason: reason ?? "reset", expectedSessionId });
      return { ok: true, key: entry.key, entry: wireSession(kit, entry) };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.delete"),
    handler: async ({ key, deleteTranscript, expectedSessionId }) => {
      const result = await deleteSession(kit, runner, { key: full(key), deleteTranscript: deleteTranscript ?? true, expectedSessionId });
      return { ok: true, key: full(key), ...result };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.cleanup"),
    handler: async ({ dryRun }) => {
      const report = await maintainSessions(kit, { signal: ctx.signal, now: ctx.clock.now(), mode: dryRun ? "warn" : "enforce" });
      if (!dryRun) await kit.traces.maintain(ctx.signal);
      return report as MaintenanceReport;
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.compact"),
    handler: async ({ key, maxLines }) => {
      const result = await compactSession(kit, full(key), { maxLines });
      return { ok: true, key: full(key), ...result };
    },
  });
}

async function create(
  params: ParamsOf<"sessions.create">,
  { call, kit, runner }: { call: RpcCall; kit: Kit; runner: Runner },
): Promise<JsonObject> {
  const { message, idempotencyKey, ...wanted } = params;
  const { key, agentId } = await createSession(kit, wanted);
  const runId = idempotencyKey ?? randomUUID();
  const sent =
    message === undefined ? undefined : await sendChat({ message, sessionKey: key, agentId, idempotencyKey: runId }, { call, kit, runner });
  const entry = await existing(kit, key);
  const run = sent === undefined ? { runStarted: false } : { runStarted: sent.status === "started", runId };
  return { ok: true, key, sessionId: entry.sessionId, entry: wireSession(kit, entry), ...run };
}

/** One run by its id, or all of a session; told is the one at work, else the oldest that waited. */
function abort({ key, runId }: ParamsOf<"sessions.abort">, { kit, runner }: { kit: Kit; runner: Runner }): JsonObject {
  const sessionKey = key === undefined ? kit.runs.get(runId ?? "")?.sessionKey : kit.directory.resolve({ sessionKey: key }).sessionKey;
  const inOrder = sessionKey === undefined ? [] : runsOf(kit, sessionKey).map((run) => run.id);
  const stopped = new Set(sessionKey === undefined ? [] : runner.abortSession(sessionKey, "rpc", runId === undefined ? {} : { runId }));
  const abortedRunId = inOrder.find((id) => stopped.has(id)) ?? null;
  return { ok: true, abortedRunId, status: abortedRunId === null ? "no-active-run" : "aborted" };
}

function resolved(kit: Kit, row: SessionRow): JsonObject {
  const ref = (row.model === undefined ? undefined : splitRef(row.model)) ?? kit.models.standard(kit.directory.get(row.agentId));
  return {
    modelProvider: ref?.provider ?? null,
    model: ref?.model ?? row.model ?? null,
    thinkingLevel: row.thinkingLevel ?? agentSetting(kit.config, row.agentId, "thinkingDefault") ?? "low",
  };
}
