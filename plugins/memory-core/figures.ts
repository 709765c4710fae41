import type { PluginContext } from "svc/sdk";
import type { MemoryServiceOptions } from "./service.ts";

/** Times of searches and syncs, for monitoring. */
export function createFigures({
  metrics,
}: Pick<PluginContext, "metrics">): Required<Pick<MemoryServiceOptions, "onSearched" | "onSynced">> {
  const searches = metrics.histogram({ name: "memory_search_ms", help: "Time of a search in the notes", labels: ["outcome"] });
  const syncs = metrics.histogram({ name: "memory_sync_ms", help: "Time in which an index caught up with its files" });
  return {
    onSearched: (ms, { unavailable, degraded }) => searches.observe(ms, unavailable ? "unavailable" : degraded ? "degraded" : "ok"),
    onSynced: (ms) => syncs.observe(ms),
  };
}
