import { definePlugin, type PluginContext, readEnv } from "svc/sdk";
import { registerModelProviders, reportSkippedProviders } from "svc/sdk/internal";
import { createConnections } from "./connections.ts";
import { createProvider } from "./provider.ts";
import { bedrockVendor } from "./vendor.ts";

export default definePlugin({
  id: "model-bedrock",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const connections = createConnections(ctx as PluginContext);
    ctx.onDispose(() => connections.close());
    const providers = registerModelProviders(ctx as PluginContext, {
      api: "bedrock-converse",
      vendors: [bedrockVendor((name) => readEnv(ctx.env, name))],
      create: (settings, deps) => createProvider(settings, { ...deps, connections }),
      // The AWS client is loaded by its own thread, with the first turn.
      loads: [],
    });
    reportSkippedProviders(ctx as PluginContext, providers, "models/bedrock-skipped");
  },
});
