import { definePlugin, type PluginContext } from "svc/sdk";
import { registerMcpRoute } from "./route.ts";
import { registerServedMethod } from "./rpc.ts";

/** Notes, sessions and agents for clients of the Model Context Protocol. */
export default definePlugin({
  id: "mcp-server",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    registerMcpRoute(ctx as PluginContext);
    registerServedMethod(ctx as PluginContext);
  },
});
