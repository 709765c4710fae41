import { formatIssues, type HttpCall, isSvcError, type PluginContext, type ToolResult, toJsonSchema } from "svc/sdk";
import type { Cancels } from "./cancels.ts";
import type { McpContext, McpRequest } from "./library.ts";
import type { ServedTool } from "./served-tool.ts";
import { servedTools } from "./tools.ts";

/** Notifications of progress of one call, at most this often. */
const PROGRESS_EVERY_MS = 250;

/** One request of a client, with who sent it. */
export interface Served {
  http: HttpCall;
  caller: string;
}

/** Tools that policy gives to a caller: the lists of `gateway.tools` as for `POST /tools/invoke`, and the policy of the default agent. */
export function offeredTools(ctx: PluginContext, outside: { isOwner: boolean }): ServedTool[] {
  const agents = ctx.service("agents@1");
  const { agentId } = agents.resolve({});
  return servedTools.filter(({ name, isOfAgent }) => agents.isToolAllowed(name, { outside, ...(isOfAgent ? { agentId } : {}) }));
}

/** The same as clients read it. */
export function listTools(ctx: PluginContext, { http }: Served): { tools: object[] } {
  const shown = offeredTools(ctx, { isOwner: http.scopes.includes("operator.admin") });
  return {
    tools: shown.map(({ name, title, description, input, isReadOnly }) => ({
      name,
      title,
      description,
      inputSchema: toJsonSchema(input),
      annotations: { readOnlyHint: isReadOnly, openWorldHint: !isReadOnly },
    })),
  };
}

/** Runs one tool. What goes wrong is a result that the client's model can read. */
export async function callTool(
  ctx: PluginContext,
  { http, caller }: Served,
  { request, context, cancels }: { request: McpRequest; context: McpContext; cancels: Cancels },
): Promise<ToolResult> {
  const { name, arguments: given = {} } = request.params ?? {};
  const found = servedTools.find((one) => one.name === name);
  if (!found) return refused(ctx, String(name).slice(0, 100), http);
  const parsed = found.input.safeParse(given);
  if (!parsed.success) return failure(`${found.name}: ${formatIssues(parsed.error.issues)}`);
  const cancel = cancels.add(caller, context.mcpReq.id);
  const signal = AbortSignal.any([http.signal, context.mcpReq.signal, cancel.signal]);
  try {
    if (!isAllowed(ctx, found, { http, args: parsed.data as { agentId?: string } })) return refused(ctx, found.name, http);
    const result = await found.run(parsed.data as never, { ctx, http, signal, progress: progressOf(context) });
    return { content: result.content, ...(result.isError ? { isError: true } : {}) };
  } catch (error) {
    const cause = isSvcError(error) ? error.code : error instanceof Error ? error.name : typeof error;
    ctx.logger.info("mcp: a call was refused or failed", { tool: found.name, cause, requestId: http.requestId });
    if (isSvcError(error, "tool-not-found")) return failure(`Tool not available: ${found.name}`);
    // An SvcError is written for people; what anything else says may be about the inside.
    return failure(isSvcError(error) && error.spec.http < 500 ? error.message : "tool execution failed");
  } finally {
    cancel.dispose();
  }
}

/** @throws {SvcError} `unknown-agent` */
function isAllowed(
  ctx: PluginContext,
  { name, isOfAgent }: ServedTool,
  { http, args }: { http: HttpCall; args: { agentId?: string } },
): boolean {
  const agents = ctx.service("agents@1");
  const { agentId } = agents.resolve(args.agentId === undefined ? {} : { agentId: args.agentId });
  return agents.isToolAllowed(name, { outside: { isOwner: http.scopes.includes("operator.admin") }, ...(isOfAgent ? { agentId } : {}) });
}

function progressOf({ mcpReq }: McpContext): ((message: string) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  let at = Number.NEGATIVE_INFINITY;
  return (message) => {
    const now = performance.now();
    if (now - at < PROGRESS_EVERY_MS || mcpReq.signal.aborted) return;
    at = now;
    progress++;
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } }).catch(() => undefined);
  };
}

/** A tool that a client does not get, whether there is one of this name or not; the audit log has it. */
function refused(ctx: PluginContext, name: string, http: HttpCall): ToolResult {
  const agents = ctx.service("agents@1");
  agents.refuseTool(name, { ...agents.resolve({}), outside: { isOwner: http.scopes.includes("operator.admin") } });
  return failure(`Tool not available: ${name}`);
}

function failure(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
