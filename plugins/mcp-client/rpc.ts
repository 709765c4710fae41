import { methodOf, type PluginContext } from "svc/sdk";
import { revokeApprovals } from "./approval.ts";
import { mcpMethods } from "./protocol-methods.ts";
import type { Servers } from "./servers.ts";

/** Registers the methods about servers and logins. */
export function registerMcpMethods(ctx: PluginContext, servers: Servers): void {
  ctx.registerRpc({ ...methodOf(mcpMethods, "mcp.status"), handler: () => ({ servers: servers.status() }) });
  ctx.registerRpc({
    ...methodOf(mcpMethods, "mcp.reconnect"),
    async handler({ server }) {
      await servers.find(server).restart();
      return { ok: true };
    },
  });
  ctx.registerRpc({
    ...methodOf(mcpMethods, "mcp.login.start"),
    async handler({ server, redirectUrl }, { signal }) {
      const address = await servers.logins.begin(servers.find(server).settings, redirectUrl, signal);
      return { ok: true, ...(address ? { authorizationUrl: address.href } : {}) };
    },
  });
  ctx.registerRpc({
    ...methodOf(mcpMethods, "mcp.login.finish"),
    async handler({ server, query }) {
      const link = servers.find(server);
      await servers.logins.finish(server, new URLSearchParams(query));
      await link.restart();
      return { ok: true };
    },
  });
  ctx.registerRpc({
    ...methodOf(mcpMethods, "mcp.logout"),
    handler: async ({ server }) => ({ ok: true, removed: await servers.logout(server) }),
  });
  ctx.registerRpc({
    ...methodOf(mcpMethods, "mcp.revoke"),
    handler: async ({ server }) => ({ ok: true, removed: await revokeApprovals(ctx, server) }),
  });
}
