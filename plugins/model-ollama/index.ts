import { definePlugin, type PluginContext } from "svc/sdk";
import { registerModelProviders, reportSkippedProviders } from "svc/sdk/internal";
import { createProvider } from "./provider.ts";
import { vendors } from "./vendors.ts";
import { longestPrompts } from "./window.ts";

export default definePlugin({
  id: "model-ollama",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(context) {
    const ctx = context as PluginContext;
    const providers = registerModelProviders(ctx, {
      api: "ollama",
      vendors,
      create: (settings, deps) => createProvider(settings, { ...deps, prompts: () => longestPrompts(ctx.snapshot().agents) }),
      loads: [],
    });
    reportSkippedProviders(ctx, providers, "models/ollama-skipped");
  },
});
