import { messageOf, type PluginContext } from "svc/sdk";
import type { HeartbeatReport } from "./report.ts";

const PREFIX = "heartbeat/";
const LAST_KEY = "heartbeat-last";

interface Row {
  /** From when the interval counts. */
  anchor?: number;
  lastRunAt?: number;
}

/** Results of earlier heartbeats, kept across restarts. Reads come from memory; a write that fails costs the memory of it, no heartbeat. */
export interface HeartbeatMemory {
  load(agentIds: readonly string[]): Promise<void>;
  anchor(agentId: string): number | undefined;
  setAnchor(agentId: string, at: number): void;
  lastRunAt(agentId: string): number | undefined;
  last(): HeartbeatReport | null;
  setLast(report: HeartbeatReport): void;
}

export function createHeartbeatMemory({ kv, logger }: Pick<PluginContext, "kv" | "logger">): HeartbeatMemory {
  const rows = new Map<string, Row>();
  let last: HeartbeatReport | null = null;
  const keep = (key: string, value: unknown) => {
    kv.set(key, value).catch((error: unknown) => logger.warn("the result of a heartbeat could not be stored", { error: messageOf(error) }));
  };
  const put = (agentId: string, row: Row) => {
    rows.set(agentId, row);
    keep(`${PREFIX}${agentId}`, row);
  };
  return {
    async load(agentIds) {
      last = (await kv.get<HeartbeatReport>(LAST_KEY)) ?? null;
      for (const { key, value } of await kv.list(PREFIX)) {
        const agentId = key.slice(PREFIX.length);
        if (agentIds.includes(agentId)) rows.set(agentId, value as Row);
        else await kv.delete(key);
      }
    },
    anchor: (agentId) => rows.get(agentId)?.anchor,
    setAnchor: (agentId, at) => put(agentId, { ...rows.get(agentId), anchor: Math.round(at) }),
    lastRunAt: (agentId) => rows.get(agentId)?.lastRunAt,
    last: () => last,
    setLast(report) {
      last = report;
      keep(LAST_KEY, report);
      if (report.durationMs !== undefined) put(report.agentId, { ...rows.get(report.agentId), lastRunAt: report.ts });
    },
  };
}
