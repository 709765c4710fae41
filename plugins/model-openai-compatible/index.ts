import { definePlugin, type PluginContext } from "svc/sdk";
import { registerModelProviders, reportSkippedProviders } from "svc/sdk/internal";
import { createProvider } from "./provider.ts";
import { vendors } from "./vendors.ts";

export default definePlugin({
  id: "model-openai-compatible",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const providers = registerModelProviders(ctx as PluginContext, {
      api: "openai-completions",
      vendors,
      create: createProvider,
      loads: [() => import("@ai-sdk/openai-compatible/internal"), () => import("./rehearsal.ts").then((m) => m.rehearse())],
    });
    reportSkippedProviders(ctx as PluginContext, providers, "models/provider-skipped");
  },
});
