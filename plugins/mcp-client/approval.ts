import { createHash } from "node:crypto";
import { type ApprovalOutcome, cleanExternalLine, cutEnd, isSvcError, type PluginContext, printable, type ToolCall } from "svc/sdk";
import { mcpErrors } from "./errors.ts";
import type { ListedTool } from "./library.ts";
import type { ServerSettings } from "./settings.ts";

const TIMEOUT_MS = 120_000;
const PREFIX = "approved:";

interface Question {
  settings: ServerSettings;
  tool: ListedTool;
  /** Name by which agents know the tool. */
  name: string;
  args: Record<string, unknown>;
  call: Pick<ToolCall, "agentId" | "sessionKey" | "toolCallId" | "signal">;
}

/** Does a person have to approve calls of a tool? Pure. */
export function needsApproval({ approval }: Pick<ServerSettings, "approval">, tool: ListedTool): boolean {
  return approval === "always" || (approval === "writes" && tool.annotations?.readOnlyHint !== true);
}

/**
 * Asks a person before a call, unless the answer was given for always.
 * @throws {SvcError} `mcp-not-approved`, or the signal's reason
 */
export async function approve(ctx: PluginContext, { settings, tool, name, args, call }: Question): Promise<void> {
  const key = approvalKey(settings, tool);
  if ((await ctx.kv.get(key)) === true) return;
  const outcome = await ask(
    ctx,
    {
      title: cutEnd(`Call ${name}?`, 80),
      description: cutEnd(`MCP server ${settings.name}, tool ${cleanExternalLine(tool.name, 100)}, with ${shown(args)}`, 512),
      severity: tool.annotations?.readOnlyHint === true ? "info" : "warning",
      toolName: name,
      toolCallId: call.toolCallId.slice(0, 256),
      agentId: call.agentId,
      sessionKey: call.sessionKey,
      allowedDecisions: ["allow-once", "allow-always", "deny"],
    },
    call.signal,
    () => ctx.kv.set(key, true),
  );
  if (outcome.decision !== "allow-once" && outcome.decision !== "allow-always")
    throw mcpErrors.mcpNotApproved({ tool: name, reason: outcome.message ?? "a person said no" });
}

/** Puts a question to whoever may approve. Without the service nobody can. */
export async function ask(
  ctx: PluginContext,
  request: Omit<Extract<Parameters<ReturnType<typeof approvalsOf>["request"]>[0], { kind: "plugin" }>["request"], "pluginId">,
  signal: AbortSignal,
  keep?: () => Promise<void>,
): Promise<Pick<ApprovalOutcome, "decision" | "message">> {
  try {
    const question = {
      kind: "plugin" as const,
      request: { ...request, pluginId: ctx.id },
      timeoutMs: TIMEOUT_MS,
      ...(keep ? { keep } : {}),
    };
    return await approvalsOf(ctx).request(question, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (isSvcError(error)) return { decision: null, message: error.message };
    throw error;
  }
}

function approvalsOf(ctx: PluginContext) {
  return ctx.service("approvals@1");
}

/** Takes back what was approved for always; resolves with how much that was. */
export async function revokeApprovals(ctx: PluginContext, server: string): Promise<number> {
  const rows = await ctx.kv.list(`${PREFIX}${server}:`);
  for (const { key } of rows) await ctx.kv.delete(key);
  return rows.length;
}

/** An answer for always holds for the tool as it was: one that is another program, or describes itself in another way, is asked about again. */
export function approvalKey(settings: ServerSettings, { name, description, inputSchema }: ListedTool): string {
  const place = settings.kind === "http" ? settings.url : [settings.command, ...settings.args];
  const parts = [place, name, description ?? null, inputSchema ?? null];
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 32);
  return `${PREFIX}${settings.name}:${hash}`;
}

function shown(args: Record<string, unknown>): string {
  return printable(cutEnd(JSON.stringify(args), 1_000)).replaceAll("\n", " ");
}
