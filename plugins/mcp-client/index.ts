import { definePlugin } from "svc/sdk";
import { serverFindings } from "./doctor.ts";
import { registerMcpMethods } from "./rpc.ts";
import { Servers } from "./servers.ts";

/** Tools, resources and prompts of servers of the Model Context Protocol, for agents. */
export default definePlugin({
  id: "mcp-client",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const servers = new Servers(ctx);
    ctx.onDispose(() => servers.close());
    ctx.onReload({ prefixes: ["mcp.servers"], prepare: async () => servers.prepare() });
    registerMcpMethods(ctx, servers);
    ctx.on("doctor.collect", (_event, meta) => {
      for (const finding of serverFindings(servers.status())) meta.report(finding);
    });
    const gateway = ctx.service("gateway@1");
    // After boot: a server may take its time. A later instance of this plugin misses that moment.
    ctx.on("gateway.ready", () => servers.start());
    return { start: () => (gateway.info().phase === "ready" ? servers.start() : undefined) };
  },
});
