import type { ToolInvocation, ToolRefusal, ToolResult } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { originOf } from "./operator-tools.ts";
import { isInvokable } from "./outside-policy.ts";
import { whereaboutsIn } from "./place.ts";
import { isToolAllowed, policyLevels } from "./policy.ts";
import { tellRefused } from "./refusals.ts";

/**
 * Runs a tool that no model called, for another plugin or for one of its clients.
 * @throws {SvcError} `tool-not-found` also for one that policy refuses, so that nobody can tell them apart
 */
export async function invokeDirectly(kit: Kit, call: { name: string; args: unknown }, target: ToolInvocation): Promise<ToolResult> {
  const { agentId, sessionKey, signal, outside, action, dryRun } = target;
  const toolCallId = target.toolCallId ?? `direct-${kit.ctx.clock.now()}`;
  const refusal = { runId: toolCallId, agentId, sessionKey, tool: call.name };
  const isOwner = outside?.isOwner !== false;
  if (outside && !isInvokable(call.name, kit.config.gateway.tools, isOwner)) throw refuse(kit, call.name, { ...target, toolCallId });
  const agent = kit.directory.get(agentId);
  const args = action === undefined ? call.args : withAction(call.args, action, await schemaOf(kit, agent, call.name));
  const where = { agentId, sessionKey, runId: toolCallId, toolCallId, signal };
  const stored = await kit.store().sessions.get(sessionKey);
  const session = stored ?? { key: sessionKey, kind: "direct" as const };
  const whereabouts = whereaboutsIn(kit, stored, target.place);
  // Places that others write in have none of the operator's own tools, whoever asks.
  const request = { trigger: "user" as const, actor: { kind: "http" as const, scopes: [] }, ...whereabouts };
  const place = originOf({ request, session, events: [] });
  const origin = place === "operator" && !isOwner ? "person" : place;
  const onRefused = (reason: ToolRefusal) => tellRefused(kit.ctx, { ...refusal, origin, reason }, kit.refusals.next());
  const called = { ...where, origin, onRefused, ...whereabouts, ...(dryRun ? { dryRun } : {}) };
  return kit.tools.invoke(agent, { name: call.name, args }, called);
}

/** Tells of a call that a client may not make. @returns the error for it */
export function refuse(
  kit: Kit,
  tool: string,
  {
    agentId,
    sessionKey,
    outside,
    toolCallId = `direct-${kit.ctx.clock.now()}`,
  }: Pick<ToolInvocation, "agentId" | "sessionKey" | "outside" | "toolCallId">,
): Error {
  const origin = outside?.isOwner === false ? "person" : "operator";
  tellRefused(kit.ctx, { runId: toolCallId, agentId, sessionKey, tool, origin, reason: "policy" }, kit.refusals.next());
  return agentErrors.toolNotFound({ tool });
}

/** Whether policy lets a tool of this name through, whether it is registered or not. @throws {SvcError} `unknown-agent` */
export function isAllowed(kit: Kit, name: string, { agentId, outside }: { agentId?: string; outside?: { isOwner: boolean } }): boolean {
  if (outside && !isInvokable(name, kit.config.gateway.tools, outside.isOwner)) return false;
  return agentId === undefined || isToolAllowed(name, policyLevels(kit.config, kit.directory.get(agentId).id));
}

async function schemaOf(kit: Kit, agent: Parameters<Kit["tools"]["specs"]>[0], name: string) {
  await kit.tools.ready(name);
  return kit.tools.specs(agent).find((spec) => spec.name === name)?.inputSchema;
}

function withAction(args: unknown, action: string, schema: { [key: string]: unknown } | undefined): unknown {
  const properties = schema?.properties;
  const hasAction = typeof properties === "object" && properties !== null && Object.hasOwn(properties, "action");
  if (!hasAction || typeof args !== "object" || args === null || Object.hasOwn(args, "action")) return args;
  return { ...args, action };
}
