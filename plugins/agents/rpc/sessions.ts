import { cutEnd, type JsonObject, methodOf, type PluginContext, type RpcCall } from "svc/sdk";
import { RawJson } from "svc/sdk/internal";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { servedMethods } from "../protocol/methods.ts";
import { textOf } from "../runs/transcript.ts";
import { branchNodes, sharedPoints, toNode } from "../sessions/branches.ts";
import { visibleText } from "../sessions/display.ts";
import { findSession } from "../sessions/find.ts";
import { createSessionLister, type SessionLister } from "../sessions/list.ts";
import { newestMessages } from "../sessions/newest-messages.ts";
import { messagesTopic, SESSIONS_TOPIC } from "../sessions/subscriptions.ts";
import { wireSession } from "../sessions/wire.ts";

const PREVIEW_KEYS = 64;
const PREVIEW_ITEMS = 12;
const PREVIEW_CHARS = 240;
/** Rows looked at for the last texts of one session. */
const PREVIEW_SCAN = 200;

/** The `sessions.*` methods that change nothing. */
export function registerSessionsMethods(ctx: PluginContext, kit: Kit): void {
  const lister = createSessionLister(kit);
  ctx.registerRpc({ ...methodOf(servedMethods, "sessions.list"), handler: (params) => lister.list(params) });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.describe"),
    handler: async ({ key }) => {
      const row = await kit.store().sessions.get(kit.directory.resolve({ sessionKey: key }).sessionKey);
      return { session: row ? wireSession(kit, row) : null };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.resolve"),
    handler: async (params) => {
      const row = await findSession(kit, params);
      if (row) return { ok: true, key: row.key, agentId: row.agentId };
      if (params.allowMissing) return { ok: false };
      throw agentErrors.unknownSession({ key: params.key ?? params.sessionId ?? params.label });
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.preview"),
    handler: async (params) => {
      const previews: JsonObject[] = [];
      // One after the other: the rows of one page at a time are in memory.
      for (const key of params.keys.slice(0, PREVIEW_KEYS)) previews.push(await preview(kit, key, params));
      return { ts: ctx.clock.now(), previews };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.branches"),
    handler: async (params) => {
      const key = kit.directory.resolve({ sessionKey: params.key }).sessionKey;
      const row = await kit.store().sessions.get(key);
      if (!row) return { key, points: [] };
      const nodes = await branchNodes(kit, row);
      const own = nodes.find((node) => node.key === key) ?? toNode(row);
      return { key, sessionId: row.sessionId, points: sharedPoints(own, nodes).map((point) => ({ ...point })) };
    },
  });
  registerSubscriptions(ctx, kit, lister);
}

function registerSubscriptions(ctx: PluginContext, kit: Kit, lister: SessionLister): void {
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.subscribe"),
    handler: async (params, call) => {
      // First the subscription, then the list: a change in between is seen twice, never lost.
      call.subscribe(SESSIONS_TOPIC);
      if (Object.keys(params).length === 0) return { subscribed: true };
      return new RawJson(`{"subscribed":true,"list":${(await lister.list(params)).text}}`);
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "sessions.unsubscribe"),
    handler: (_params, call) => {
      call.unsubscribe(SESSIONS_TOPIC);
      return { subscribed: false };
    },
  });
  const follow = (key: string, call: RpcCall, on: boolean) => {
    const { sessionKey } = kit.directory.resolve({ sessionKey: key });
    if (on) {
      // Of a connection that is gone nobody would be told to forget it.
      call.signal.throwIfAborted();
      kit.subscriptions.add(call.client.connId, sessionKey);
      call.subscribe(messagesTopic(sessionKey));
    } else {
      call.unsubscribe(messagesTopic(sessionKey));
      kit.subscriptions.remove(call.client.connId, sessionKey);
    }
    return { subscribed: on, key: sessionKey };
  };
  ctx.registerRpc({ ...methodOf(servedMethods, "sessions.messages.subscribe"), handler: ({ key }, call) => follow(key, call, true) });
  ctx.registerRpc({ ...methodOf(servedMethods, "sessions.messages.unsubscribe"), handler: ({ key }, call) => follow(key, call, false) });
}

async function preview(kit: Kit, key: string, options: { limit?: number | undefined; maxChars?: number | undefined }): Promise<JsonObject> {
  try {
    const row = await kit.store().sessions.get(kit.directory.resolve({ sessionKey: key }).sessionKey);
    if (!row) return { key, status: "missing", items: [] };
    const messages = await newestMessages(kit.store(), row.sessionId, { limit: PREVIEW_SCAN });
    const items = messages
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
