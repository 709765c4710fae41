import { messageOf, methodOf, type PluginContext } from "svc/sdk";
import { loadMcpServer } from "./library.ts";
import { mcpServedMethods } from "./protocol-methods.ts";
import { MCP_PATH } from "./route.ts";
import { offeredTools } from "./serve.ts";

/** Registers the method that says what a client of `/mcp` would get. */
export function registerServedMethod(ctx: PluginContext): void {
  ctx.registerRpc({
    ...methodOf(mcpServedMethods, "mcp.served"),
    async handler(_params, { client }) {
      const problem = await loadMcpServer(ctx.vendor).then(() => undefined, messageOf);
      const tools = offeredTools(ctx, { isOwner: client.scopes.includes("operator.admin") });
      return {
        path: MCP_PATH,
        ...(problem === undefined ? {} : { problem }),
        tools: tools.map(({ name, title, description, isReadOnly }) => ({ name, title, description, isReadOnly })),
      };
    },
  });
}
