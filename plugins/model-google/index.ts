import { definePlugin, type PluginContext } from "svc/sdk";
import { registerModelProviders, reportSkippedProviders } from "svc/sdk/internal";
import { createProvider } from "./provider.ts";
import { vendors } from "./vendors.ts";

export default definePlugin({
  id: "model-google",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const providers = registerModelProviders(ctx as PluginContext, {
      api: "google-generative-ai",
      vendors,
      create: createProvider,
      loads: [() => import("@ai-sdk/google"), () => import("./rehearsal.ts").then((m) => m.rehearse())],
    });
    reportSkippedProviders(ctx as PluginContext, providers, "models/google-skipped");
  },
});
