import { randomUUID } from "node:crypto";
import { methodOf, type PluginContext } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { servedMethods } from "../protocol/methods.ts";
import { scopeOfMessage } from "../runs/chat-command.ts";
import { commandList } from "../runs/command-list.ts";
import type { Runner } from "../runs/runner.ts";
import { readHistory } from "../sessions/history.ts";
import { injectNote } from "../sessions/inject.ts";
import { sendChat } from "./send.ts";

/** `chat.send`, `chat.abort`, `chat.history`, `chat.inject`, `commands.list`. */
export function registerChatMethods(ctx: PluginContext, kit: Kit, runner: Runner): void {
  ctx.registerRpc({
    ...methodOf(servedMethods, "chat.send"),
    scopeFor: (params) => scopeOfMessage(kit, params.message),
    handler: (params, call) => sendChat({ ...params, ...kit.directory.resolve(targetOf(params)) }, { call, kit, runner }),
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "chat.abort"),
    handler: (params) => {
      const { sessionKey } = kit.directory.resolve(targetOf(params));
      const runIds = runner.abortSession(sessionKey, "rpc", params.runId === undefined ? {} : { runId: params.runId });
      return { ok: true, aborted: runIds.length > 0, runIds };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "chat.history"),
    handler: (params) => {
      const { sessionKey } = kit.directory.resolve({ sessionKey: params.sessionKey });
      return readHistory(kit, sessionKey, params);
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "chat.inject"),
    handler: async ({ sessionKey, message, label }) => {
      const key = kit.directory.resolve({ sessionKey }).sessionKey;
      const { messageId } = await injectNote(kit, key, { text: message, label, id: randomUUID() });
      return { ok: true, messageId };
    },
  });
  ctx.registerRpc({ ...methodOf(servedMethods, "commands.list"), handler: () => ({ commands: commandList(kit) }) });
}

function targetOf(params: { sessionKey: string; agentId?: string | undefined }): { sessionKey: string; agentId?: string } {
  return { sessionKey: params.sessionKey, ...(params.agentId === undefined ? {} : { agentId: params.agentId }) };
}
