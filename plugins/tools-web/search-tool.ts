import { type Tool, wrapExternal, z } from "svc/sdk";
import type { SearchProvider } from "./providers.ts";

const input = z.strictObject({
  query: z.string().min(1).max(400).describe("What to look for, as one would type it into a search box"),
  count: z.number().int().min(1).max(10).optional().describe("Number of results, 1 to 10; default 5"),
  freshness: z.enum(["day", "week", "month", "year"]).optional().describe("Only results of the last day, week, month or year"),
});

/** `web_search`: titles, addresses and snippets from the operator's provider, in a frame. */
export function webSearchTool(provider: SearchProvider): Tool<z.output<typeof input>> {
  return {
    name: "web_search",
    description: "Searches the web and returns titles, addresses and short passages. Read a result with web_fetch before relying on it.",
    input,
    readOnly: true,
    timeoutMs: 30_000,
    async run({ query, count = 5, freshness }, { signal }) {
      const results = await provider.find({ query, count, ...(freshness === undefined ? {} : { freshness }) }, signal);
      if (results.length === 0) return `Nothing was found for "${query}".`;
      const lines = results.map(({ title, url, snippet }, i) => `${i + 1}. ${title}\n   ${url}\n   ${snippet}`);
      return wrapExternal(lines.join("\n"), { source: "Web search", from: provider.name });
    },
  };
}
