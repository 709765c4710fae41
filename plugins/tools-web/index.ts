import { definePlugin } from "svc/sdk";
import { webConfig } from "./config.ts";
import { webFetchTool } from "./fetch-tool.ts";
import { imageTool } from "./image-tool.ts";
import { PageReader } from "./page-reader.ts";
import { createSearch } from "./providers.ts";
import { webSearchTool } from "./search-tool.ts";

/** The tools `web_fetch`, `image` and, with a provider, `web_search`. */
export default definePlugin({
  id: "tools-web",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  config: webConfig,
  setup(ctx) {
    const reader = new PageReader();
    const { fetch, search, image } = ctx.config;
    const { stateDir } = ctx.service("gateway@1").info();
    ctx.registerTool(webFetchTool({ reader, rules: fetch }));
    ctx.registerTool(imageTool({ agents: () => ctx.service("agents@1"), stateDir, rules: fetch, model: image.model }));
    const provider = createSearch(search, ctx.request);
    if (provider) ctx.registerTool(webSearchTool(provider));
    return { stop: () => reader.close() };
  },
});
