import { definePlugin, type PluginContext } from "svc/sdk";
import { createReplays } from "svc/sdk/internal";
import { PdfReader } from "./pdf/reader.ts";
import { EarlierResponses } from "./responses/earlier.ts";
import { openRoutes } from "./routes.ts";

export default definePlugin({
  id: "openai-http",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    // Outlive the routes: a reload of the config forgets no outcome and no conversation.
    const replays = createReplays({ monotonic: () => ctx.clock.monotonic() });
    const earlier = new EarlierResponses(ctx as PluginContext);
    const pdf = new PdfReader({ vendor: ctx.vendor });
    ctx.onDispose(() => pdf.close());
    const open = () => openRoutes(ctx, { replays, pdf, earlier });
    let routes = open();
    // Requests under way finish on the route they came by.
    const apply = () => {
      for (const route of routes) void route.dispose();
      routes = open();
    };
    ctx.onReload({
      prefixes: ["gateway.http.endpoints", "gateway.http.maxBodyBytes"],
      prepare: async () => ({ apply, discard: () => undefined }),
    });
  },
});
