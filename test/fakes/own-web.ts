import { definePlugin, isPublicAddress } from "svc/sdk";
import { webConfig } from "../../plugins/tools-web/config.ts";
import { webFetchTool } from "../../plugins/tools-web/fetch-tool.ts";
import { PageReader } from "../../plugins/tools-web/page-reader.ts";
import { createSearch } from "../../plugins/tools-web/providers.ts";
import { webSearchTool } from "../../plugins/tools-web/search-tool.ts";

/**
 * The tools of the web as a plugin for which servers of this machine stand for those of the public; `close` ends the threads that read pages.
 * @param searxng address of a search server, read when the plugin is set up; without it there is no `web_search`
 */
export function createOwnWeb({ searxng }: { searxng?: () => string } = {}) {
  const reader = new PageReader();
  const plugin = definePlugin({
    id: "own-web",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(ctx) {
      const isAllowed = (address: string) => address === "127.0.0.1" || isPublicAddress(address);
      ctx.registerTool(webFetchTool({ reader, rules: { allowedHosts: [], deniedHosts: [] }, fetch: { isAllowed } }));
      if (!searxng) return;
      const search = createSearch(webConfig.parse({ search: { provider: "searxng", baseUrl: searxng() } }).search, ctx.request);
      if (search) ctx.registerTool(webSearchTool(search));
    },
  });
  return { plugin, close: () => reader.close() };
}
