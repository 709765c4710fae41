import { createHash, randomUUID } from "node:crypto";
import {
  agentSetting,
  isSvcError,
  type JsonObject,
  methodOf,
  type ParamsOf,
  type PluginContext,
  type RpcCall,
  type RunOrigin,
  type ToolRefusal,
  type ToolResult,
} from "svc/sdk";
import { createReplays } from "svc/sdk/internal";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { servedMethods } from "../protocol/methods.ts";
import { catalogProfiles, groupTools, toolSource } from "../tools/catalog.ts";
import { originOf } from "../tools/operator-tools.ts";
import { isInvokable } from "../tools/outside-policy.ts";
import { whereaboutsIn } from "../tools/place.ts";
import { isLeft } from "../tools/policy.ts";
import { tellRefused } from "../tools/refusals.ts";
import { textsOf } from "../tools/tool-content.ts";

/** `tools.catalog`, `tools.effective`, `tools.invoke`. */
export function registerToolMethods(ctx: PluginContext, kit: Kit): void {
  const replays = createReplays({ monotonic: () => ctx.clock.monotonic() });

  ctx.registerRpc({
    ...methodOf(servedMethods, "tools.catalog"),
    handler: async ({ agentId, includePlugins }) => {
      const agent = kit.directory.get(agentId ?? kit.directory.defaultId);
      await kit.tools.ready();
      return { agentId: agent.id, profiles: catalogProfiles, groups: groupTools(kit.tools.all(), { includePlugins }) };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "tools.effective"),
    handler: async ({ sessionKey }) => {
      const agent = kit.directory.get(kit.directory.resolve({ sessionKey }).agentId);
      await kit.tools.ready();
      const { tools } = whereaboutsIn(kit, await kit.store().sessions.get(kit.directory.resolve({ sessionKey }).sessionKey));
      const allowed = kit.tools.all().filter(({ name }) => kit.tools.has(agent, name) && isLeft(name, tools));
      const profile = agentSetting(kit.config, agent.id, "tools")?.profile ?? kit.config.tools.profile;
      return { agentId: agent.id, profile, groups: groupTools(allowed) };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "tools.invoke"),
    handler: (params, call) => {
      // An agent or session that is not there is a fault of the request, not of the tool.
      const target = kit.directory.resolve({
        ...(params.agentId === undefined ? {} : { agentId: params.agentId }),
        ...(params.sessionKey === undefined ? {} : { sessionKey: params.sessionKey }),
      });
      return replays.run(replayKeyOf({ params, call, target }), () => invoke({ ctx, kit }, { params, call, target }), hasRun);
    },
  });
}

interface Invocation {
  params: ParamsOf<"tools.invoke">;
  call: RpcCall;
  target: { agentId: string; sessionKey: string };
}

/** The key of a call and everything that decides its answer: another caller, right, target or argument is another call. */
function replayKeyOf({ params, call, target }: Invocation): string | undefined {
  const { idempotencyKey, name, args = {} } = params;
  if (idempotencyKey === undefined) return undefined;
  const { clientId, deviceId, identity } = call.client;
  const caller = [clientId, deviceId ?? null, identity ?? null, isOwner(call)];
  const parts = [idempotencyKey, caller, target.agentId, target.sessionKey, name, args];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

async function invoke({ ctx, kit }: { ctx: PluginContext; kit: Kit }, { params, call, target }: Invocation): Promise<JsonObject> {
  const { name, args = {}, idempotencyKey } = params;
  const agent = kit.directory.get(target.agentId);
  const toolCallId = `rpc-${idempotencyKey ?? randomUUID()}`;
  const limitMs = (agentSetting(kit.config, agent.id, "timeoutSeconds") ?? 600) * 1_000;
  // A caller that sent a key comes back for the answer; nobody waits for the others once their socket is gone.
  const ends = [ctx.signal, AbortSignal.timeout(limitMs), ...(idempotencyKey === undefined ? [call.signal] : [])];
  const onRefused = (origin: RunOrigin, reason: ToolRefusal) =>
    tellRefused(ctx, { runId: toolCallId, ...target, tool: name, origin, reason }, kit.refusals.next());
  try {
    if (!isInvokable(name, kit.config.gateway.tools, isOwner(call))) {
      onRefused(isOwner(call) ? "operator" : "person", "policy");
      throw agentErrors.toolNotFound({ tool: name });
    }
    const signal = AbortSignal.any(ends);
    const stored = await kit.store().sessions.get(target.sessionKey);
    const whereabouts = whereaboutsIn(kit, stored);
    const request = { trigger: "user" as const, actor: { kind: "rpc" as const, scopes: call.client.scopes }, ...whereabouts };
    const session = stored ?? { key: target.sessionKey, kind: "direct" as const };
    const origin = originOf({ request, session, events: [] });
    const ids = { ...target, runId: toolCallId, toolCallId };
    const where = { ...ids, origin, ...whereabouts, signal, onRefused: (reason: ToolRefusal) => onRefused(origin, reason) };
    const result = await kit.tools.invoke(agent, { name, args }, where);
    return { toolName: name, ...sourceOf(kit, name), ...answer(result) };
  } catch (error) {
    const refusal = refusalOf(error);
    // Names and sizes only: arguments, and what a fault repeats of them, may hold what nobody else may read.
    const cause = isSvcError(error) ? error.code : error instanceof Error ? error.name : typeof error;
    ctx.logger.info("tools.invoke: refused or failed", { tool: name, code: refusal.code, cause, argsChars: JSON.stringify(args).length });
    return { ok: false, toolName: name, error: refusal };
  }
}

function isOwner({ client }: RpcCall): boolean {
  return client.scopes.includes("operator.admin");
}

function answer(result: ToolResult): JsonObject {
  const { isError, ...output } = result;
  if (!isError) return { ok: true, output };
  return { ok: false, output, error: { code: "failed", message: textsOf(output.content).join("\n") } };
}

/** A tool that policy refuses cannot be told from one that is not there. */
function refusalOf(error: unknown): { code: "not_found" | "denied" | "invalid_args" | "failed"; message: string } {
  if (isSvcError(error, "tool-not-found")) return { code: "not_found", message: error.message };
  if (isSvcError(error, "tool-blocked")) return { code: "denied", message: error.message };
  if (isSvcError(error, "invalid-tool-args")) return { code: "invalid_args", message: error.message };
  // An SvcError is written for people; what anything else says may be about the inside.
  return { code: "failed", message: isSvcError(error) ? error.message : "tool execution failed" };
}

function sourceOf(kit: Kit, name: string): JsonObject {
  const tool = kit.tools.all().find((one) => one.name === name);
  return tool ? { source: toolSource(tool) } : {};
}

/** A refusal is no result: after its cause is gone a repeat shall run. */
function hasRun({ ok, error }: JsonObject): boolean {
  return ok === true || (error as { code?: string } | undefined)?.code === "failed";
}
