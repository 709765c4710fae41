import { definePlugin } from "svc/sdk";
import { createReplays } from "svc/sdk/internal";
import { PdfReader } from "./pdf/reader.ts";
import { openRoutes } from "./routes.ts";

export default definePlugin({
  id: "openai-http",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    // Outlives the routes: a reload of the config forgets no outcome.
    const replays = createReplays({ monotonic: () => ctx.clock.monotonic() });
    const pdf = new PdfReader({ vendor: ctx.vendor });
    ctx.onDispose(() => pdf.close());
    let routes = openRoutes(ctx, replays, pdf);
    // Requests under way finish on the route they came by.
    const apply = () => {
      for (const route of routes) void route.dispose();
      routes = openRoutes(ctx, replays, pdf);
    };
    ctx.onReload({
      prefixes: ["gateway.http.endpoints", "gateway.http.maxBodyBytes"],
      prepare: async () => ({ apply, discard: () => undefined }),
    });
  },
});
