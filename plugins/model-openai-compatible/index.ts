import { definePlugin, type PluginContext } from "svc/sdk";
import { registerModelDoctor } from "./doctor.ts";
import { createProviders } from "./providers.ts";

export default definePlugin({
  id: "model-openai-compatible",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const providers = createProviders(ctx as PluginContext);
    ctx.onDispose(() => providers.close());
    providers.update();
    registerModelDoctor(ctx as PluginContext, providers);
    // Secrets of the new config can be had once it is in force, so there is nothing to prepare.
    ctx.onReload({
      prefixes: ["models", "agents.defaults.models"],
      prepare: async () => ({ apply: () => providers.update(), discard: () => undefined }),
    });
  },
});
