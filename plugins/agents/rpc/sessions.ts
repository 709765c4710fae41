import {
  type JsonObject,
  type ParamsOf,
  type PluginContext,
  protocolMethod,
  type RpcCall,
  type SessionQuery,
  type SessionRow,
} from "svc/sdk";
import { cutEnd } from "../common/cut.ts";
import { type Kit, runsOf } from "../kit.ts";
import { splitRef } from "../models/choice.ts";
import type { Runner } from "../runs/runner.ts";
import { textOf } from "../runs/transcript.ts";
import { deleteSession, patchSession, resetSession } from "../sessions/changes.ts";
import { visibleText } from "../sessions/display.ts";
import { toWireSession } from "../sessions/row.ts";
import { messagesTopic, SESSIONS_TOPIC } from "../sessions/subscriptions.ts";

const DEFAULT_LIMIT = 100;
const PREVIEW_KEYS = 64;
const PREVIEW_ITEMS = 12;
const PREVIEW_CHARS = 240;
/** Rows looked at for the last texts of one session. */
const PREVIEW_SCAN = 200;

/** The `sessions.*` family. */
export function registerSessionsMethods(ctx: PluginContext, kit: Kit, runner: Runner): void {
  const full = (key: string) => kit.directory.resolve({ sessionKey: key }).sessionKey;
  const wire = (row: SessionRow) =>
    toWireSession(
      row,
      runsOf(kit, row.key).map((r) => r.id),
      ctx.clock.now(),
    );

  ctx.registerRpc({ ...protocolMethod("sessions.list"), handler: (params) => listSessions(kit, params, wire) });
  ctx.registerRpc({
    ...protocolMethod("sessions.describe"),
    handler: ({ key }) => {
      const row = kit.store().sessions.get(full(key));
      return { session: row ? wire(row) : null };
    },
  });
  ctx.registerRpc({
    ...protocolMethod("sessions.preview"),
    handler: (params) => ({ ts: ctx.clock.now(), previews: params.keys.slice(0, PREVIEW_KEYS).map((key) => preview(kit, key, params)) }),
  });
  ctx.registerRpc({
    ...protocolMethod("sessions.reset"),
    handler: async ({ key, reason, expectedSessionId }) => {
      const entry = await resetSession(kit, full(key), { reason: reason ?? "reset", expectedSessionId });
      return { ok: true, key: entry.key, entry: wire(entry) };
    },
  });
  ctx.registerRpc({
    ...protocolMethod("sessions.delete"),
    handler: async ({ key, deleteTranscript, expectedSessionId }) => {
      const result = await deleteSession(kit, runner, { key: full(key), deleteTranscript: deleteTranscript ?? true, expectedSessionId });
      return { ok: true, key: full(key), ...result };
    },
  });
  ctx.registerRpc({
    ...protocolMethod("sessions.patch"),
    handler: async ({ key, ...patch }) => {
      const entry = await patchSession(kit, full(key), patch);
      return { ok: true, path: kit.store().status().path, key: entry.key, entry: wire(entry), resolved: resolved(kit, entry) };
    },
  });
  registerSubscriptions(ctx, kit, { full, wire });
}

function registerSubscriptions(
  ctx: PluginContext,
  kit: Kit,
  { full, wire }: { full(key: string): string; wire(row: SessionRow): JsonObject },
): void {
  ctx.registerRpc({
    ...protocolMethod("sessions.subscribe"),
    handler: (params, call) => {
      // First the subscription, then the list: a change in between is seen twice, never lost.
      call.subscribe(SESSIONS_TOPIC);
      return { subscribed: true, ...(Object.keys(params).length > 0 ? { list: listSessions(kit, params, wire) } : {}) };
    },
  });
  ctx.registerRpc({
    ...protocolMethod("sessions.unsubscribe"),
    handler: (_params, call) => {
      call.unsubscribe(SESSIONS_TOPIC);
      return { subscribed: false };
    },
  });
  const follow = (key: string, call: RpcCall, on: boolean) => {
    const sessionKey = full(key);
    if (on) {
      call.subscribe(messagesTopic(sessionKey));
      kit.subscriptions.add(call.client.connId, sessionKey);
    } else {
      call.unsubscribe(messagesTopic(sessionKey));
      kit.subscriptions.remove(call.client.connId, sessionKey);
    }
    return { subscribed: on, key: sessionKey };
  };
  ctx.registerRpc({ ...protocolMethod("sessions.messages.subscribe"), handler: ({ key }, call) => follow(key, call, true) });
  ctx.registerRpc({ ...protocolMethod("sessions.messages.unsubscribe"), handler: ({ key }, call) => follow(key, call, false) });
}

function listSessions(kit: Kit, params: ParamsOf<"sessions.list">, wire: (row: SessionRow) => JsonObject): JsonObject {
  const ts = kit.ctx.clock.now();
  const limit = params.limit ?? DEFAULT_LIMIT;
  const offset = params.offset ?? 0;
  // No session of this release was spawned by another one.
  const { rows, total } =
    params.spawnedBy === undefined ? kit.store().sessions.list(queryOf(params, { limit, offset, ts })) : { rows: [], total: 0 };
  const standard = kit.models.standard(kit.directory.get(params.agentId ?? kit.directory.defaultId));
  const read = offset + rows.length;
  return {
    ts,
    path: kit.store().status().path,
    count: rows.length,
    totalCount: total,
    limitApplied: limit,
    hasMore: read < total,
    nextOffset: read < total ? read : null,
    defaults: { modelProvider: standard?.provider ?? null, model: standard?.model ?? null, contextTokens: null },
    sessions: rows.map(wire),
  };
}

function queryOf(params: ParamsOf<"sessions.list">, { limit, offset, ts }: { limit: number; offset: number; ts: number }): SessionQuery {
  const { agentId, archived, label, search, sortBy, activeMinutes } = params;
  return {
    limit,
    offset,
    ...(agentId === undefined ? {} : { agentId }),
    ...(archived === undefined ? {} : { archived }),
    ...(label === undefined ? {} : { label }),
    ...(search === undefined ? {} : { search }),
    ...(sortBy === undefined ? {} : { sortBy }),
    ...(activeMinutes === undefined ? {} : { updatedAfter: ts - activeMinutes * 60_000 }),
  };
}

function preview(kit: Kit, key: string, options: { limit?: number | undefined; maxChars?: number | undefined }): JsonObject {
  try {
    const row = kit.store().sessions.get(kit.directory.resolve({ sessionKey: key }).sessionKey);
    if (!row) return { key, status: "missing", items: [] };
    const items = kit
      .store()
      .messages.page(row.sessionId, { limit: PREVIEW_SCAN })
      .filter((m) => m.role !== "toolResult")
      .map((m) => ({ role: m.role, text: cutEnd(visibleText(textOf(m.content)).trim(), options.maxChars ?? PREVIEW_CHARS) }))
      .filter((m) => m.text !== "")
      .slice(-(options.limit ?? PREVIEW_ITEMS));
    return { key, status: items.length > 0 ? "ok" : "empty", items };
  } catch (error) {
    kit.ctx.logger.debug("sessions.preview: a key could not be read", { key, error: String(error) });
    return { key, status: "error", items: [] };
  }
}

function resolved(kit: Kit, row: SessionRow): JsonObject {
  const ref = (row.model === undefined ? undefined : splitRef(row.model)) ?? kit.models.standard(kit.directory.get(row.agentId));
  return { modelProvider: ref?.provider ?? null, model: ref?.model ?? row.model ?? null, thinkingLevel: row.thinkingLevel ?? "low" };
}
