import type { ToolInvocation, ToolResult } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { hasOperatorTools } from "./operator-tools.ts";
import { isInvokable } from "./outside-policy.ts";

/**
 * Runs a tool that no model called, for another plugin or for one of its clients.
 * @throws {SvcError} `tool-not-found` also for one that policy refuses, so that nobody can tell them apart
 */
export async function invokeDirectly(kit: Kit, call: { name: string; args: unknown }, target: ToolInvocation): Promise<ToolResult> {
  const { agentId, sessionKey, signal, outside, action, dryRun } = target;
  if (outside && !isInvokable(call.name, kit.config.gateway.tools, outside.isOwner)) throw agentErrors.toolNotFound({ tool: call.name });
  const agent = kit.directory.get(agentId);
  const toolCallId = target.toolCallId ?? `direct-${kit.ctx.clock.now()}`;
  const args = action === undefined ? call.args : withAction(call.args, action, await schemaOf(kit, agent, call.name));
  const where = { agentId, sessionKey, runId: toolCallId, toolCallId, signal };
  const owned = outside ? { hasOperatorTools: outside.isOwner && (await isOperatorSession(kit, sessionKey)) } : {};
  return kit.tools.invoke(agent, { name: call.name, args }, { ...where, ...owned, ...(dryRun ? { dryRun } : {}) });
}

/** Sessions that others write in have none of the operator's own tools, whoever asks. */
async function isOperatorSession(kit: Kit, key: string): Promise<boolean> {
  const session = (await kit.store().sessions.get(key)) ?? { key, kind: "direct" as const };
  return hasOperatorTools({ request: { trigger: "user", actor: { kind: "http", scopes: [] } }, session, events: [] });
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
