import { cleanExternalLine, type Disposable, isRecord, type PluginContext, type ToolCall, type ToolResult, z } from "svc/sdk";
import { approve } from "./approval.ts";
import { foreignFailure, framed, partsText } from "./content.ts";
import { mcpErrors } from "./errors.ts";
import type { ServerLink } from "./server-link.ts";

const MAX_LISTED = 200;

/** Names of the tools for what servers offer besides tools. */
export const readingTools = ["mcp_read_resource", "mcp_get_prompt"] as const;

/** Registers `mcp_read_resource` and `mcp_get_prompt`, for all servers. */
export function registerReadingTools(ctx: PluginContext, links: () => Iterable<ServerLink>): Disposable {
  const find = (server: string, offer: "resources" | "prompts"): ServerLink => {
    const all = [...links()].filter(({ offers }) => offers[offer]);
    const found = all.find(({ settings }) => settings.name === server);
    if (found) return found;
    throw mcpErrors.mcpUnknownServer({ server, known: all.map(({ settings }) => settings.name).join(", ") || "none" });
  };
  const resource = ctx.registerTool({
    name: "mcp_read_resource",
    description: "Reads a resource of an MCP server by its address; without `uri` it lists what there is.",
    input: z.strictObject({ server: z.string().min(1).max(32), uri: z.string().min(1).max(2_000).optional() }),
    readOnly: true,
    timeoutMs: 300_000,
    run: ({ server, uri }, call) => {
      const link = find(server, "resources");
      if (uri === undefined) return listed(ctx, link, { method: "resources/list", key: "resources", call });
      return read(ctx, link, { method: "resources/read", params: { uri }, of: uri, call, toText: ({ contents }) => partsText(contents) });
    },
  });
  const prompt = ctx.registerTool({
    name: "mcp_get_prompt",
    description: "Gets a prompt that an MCP server has ready, filled with `arguments`; without `name` it lists what there is.",
    input: z.strictObject({
      server: z.string().min(1).max(32),
      name: z.string().min(1).max(256).optional(),
      arguments: z.record(z.string(), z.string()).optional(),
    }),
    readOnly: true,
    timeoutMs: 300_000,
    run: ({ server, name, arguments: values }, call) => {
      const link = find(server, "prompts");
      if (name === undefined) return listed(ctx, link, { method: "prompts/list", key: "prompts", call });
      const params = { name, ...(values ? { arguments: values } : {}) };
      return read(ctx, link, { method: "prompts/get", params, of: name, call, toText: ({ messages }) => partsText(messages) });
    },
  });
  return {
    async dispose() {
      await resource.dispose();
      await prompt.dispose();
    },
  };
}

interface Reading {
  method: string;
  params: object;
  /** Resource, prompt or list. */
  of: string;
  call: ToolCall;
}

async function read(
  ctx: PluginContext,
  link: ServerLink,
  { method, params, of, call, toText }: Reading & { toText(answer: Record<string, unknown>): string },
): Promise<ToolResult> {
  const { settings } = link;
  if (settings.approval === "always") {
    const tool = { name: method, inputSchema: undefined, annotations: { readOnlyHint: true } };
    await approve(ctx, { settings, tool, name: `${method} of ${settings.name}`, args: { ...params }, call });
  }
  const source = { server: settings.name, of, hide: (text: string) => link.hide(text) };
  try {
    return framed(toText(await link.request(method, params, { signal: call.signal })), source);
  } catch (error) {
    return foreignFailure(error, source, call.signal);
  }
}

/** One page of a list, which is enough to choose from. */
function listed(
  ctx: PluginContext,
  link: ServerLink,
  { method, key, call }: { method: string; key: string; call: ToolCall },
): Promise<ToolResult> {
  const toText = (answer: Record<string, unknown>) => {
    const rows = Array.isArray(answer[key]) ? (answer[key] as unknown[]) : [];
    const lines = rows.slice(0, MAX_LISTED).flatMap((row) => (isRecord(row) ? [rowLine(row)] : []));
    const isCut = rows.length > MAX_LISTED || typeof answer.nextCursor === "string";
    return [...lines, ...(isCut ? ["[there are more, which are not shown]"] : [])].join("\n");
  };
  return read(ctx, link, { method, params: {}, of: method, call, toText });
}

function rowLine({ uri, name, title, description, arguments: values }: Record<string, unknown>): string {
  const line = (value: unknown) => (typeof value === "string" ? cleanExternalLine(value, 300) : "");
  const names = (Array.isArray(values) ? values.slice(0, 20) : []).flatMap((one) => (isRecord(one) ? [line(one.name)] : []));
  const head = [line(uri), line(name)].filter((part) => part !== "").join(" ");
  const about = [line(title), line(description)].filter((part) => part !== "").join(": ");
  return `${head}${names.length > 0 ? ` (${names.join(", ")})` : ""}${about === "" ? "" : ` – ${about}`}`;
}
