import { type HttpCall, type HttpFault, messageOf, type PluginContext } from "svc/sdk";
import { Cancels } from "./cancels.ts";
import { loadMcpServer, type McpHandler } from "./library.ts";
import { callTool, listTools, type Served } from "./serve.ts";

export const MCP_PATH = "/mcp";
const MAX_BODY_BYTES = 1_048_576;
const MAX_SUBSCRIPTIONS = 64;
/** Codes of JSON-RPC. */
const PARSE_ERROR = -32_700;
const REFUSED = -32_000;

const instructions =
  "Notes, conversations and agents of a personal gateway. memory_search finds what its owner wrote down; ask_agent hands a task to an agent, which may act.";

/** `POST /mcp`: streamable HTTP of both revisions, without sessions. */
export function registerMcpRoute(ctx: PluginContext): void {
  const cancels = new Cancels();
  let handler: Promise<McpHandler<Served>> | undefined;
  // A failed load is tried again: the packages may be installed meanwhile.
  const ready = () => {
    handler ??= createHandler(ctx, cancels).catch((error: unknown) => {
      handler = undefined;
      throw error;
    });
    return handler;
  };
  ctx.onDispose(async () => (await handler?.catch(() => undefined))?.close());
  ctx.registerHttpRoute({
    method: "POST",
    path: MCP_PATH,
    match: "exact",
    auth: "gateway",
    scope: "operator.write",
    maxBodyBytes: MAX_BODY_BYTES,
    onError: answerFault,
    async handler(http) {
      const caller = callerOf(http);
      const parsedBody = await http.json();
      cancels.take(caller, parsedBody);
      const authInfo = { token: "", clientId: "operator", scopes: [...http.scopes], extra: { http, caller } };
      return (await ready()).fetch(http.req, { parsedBody, authInfo });
    },
  });
}

async function createHandler(ctx: PluginContext, cancels: Cancels): Promise<McpHandler<Served>> {
  const { Server, createMcpHandler } = await loadMcpServer(ctx.vendor);
  return createMcpHandler<Served>(
    ({ authInfo }) => {
      const server = new Server({ name: "svc", version: ctx.version }, { capabilities: { tools: {} }, instructions });
      const served = authInfo?.extra;
      if (!served) throw new Error("a request of MCP came without its caller");
      server.setRequestHandler("tools/list", () => listTools(ctx, served));
      server.setRequestHandler("tools/call", (request, context) => callTool(ctx, served, { request, context, cancels }));
      return server;
    },
    {
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => ctx.logger.debug("mcp: a request was refused", { error: messageOf(error).slice(0, 300) }),
    },
  );
}

/** Name of a client, whose calls only it may cancel, as far as clients can be told apart. `svc mcp` names each of its processes. */
function callerOf({ req: { headers }, remote }: HttpCall): string {
  return JSON.stringify([headers.get("authorization"), headers.get("x-svc-mcp-client"), remote.address, headers.get("user-agent")]);
}

/** Refusals in the form that clients of JSON-RPC read. */
function answerFault({ status, code, message, headers }: HttpFault): Response {
  const error = { code: code === "invalid-json" ? PARSE_ERROR : REFUSED, message };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status, headers });
}
