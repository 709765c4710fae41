import { DEFAULT_AGENT_ID, type HealthPart, type JsonObject, MAIN_KEY, mainSessionKey } from "svc/sdk";
import type { Kit } from "./kit.ts";

const RECENT = 5;

/** Parts of the health snapshot that this plugin knows (`protocol-methods.md` 13). */
export function healthParts(kit: Kit, problems: readonly string[]): HealthPart[] {
  const agents = kit.directory.list().map((agent) => ({
    agentId: agent.id,
    isDefault: agent.isDefault,
    heartbeat: { enabled: false, every: "0m", everyMs: 0, target: "none" },
    sessions: sessionsOf(kit, agent.id),
  }));
  return [
    { part: "agents", ok: problems.length === 0, value: agents, ...(problems.length > 0 ? { message: problems.join("; ") } : {}) },
    { part: "sessions", ok: true, value: sessionsOf(kit) },
    { part: "heartbeatSeconds", ok: true, value: 0 },
    { part: "defaultAgentId", ok: true, value: kit.directory.defaultId },
    { part: "queues", ok: true, value: { lanes: kit.lanes.active, queued: kit.lanes.queued, active: kit.lanes.active } },
  ];
}

/** What a client needs to open the right session first. */
export function sessionDefaults(kit: Pick<Kit, "directory" | "config">): JsonObject {
  const defaultAgentId = kit.directory.defaultId ?? DEFAULT_AGENT_ID;
  return { defaultAgentId, mainKey: MAIN_KEY, mainSessionKey: mainSessionKey(defaultAgentId), scope: kit.config.session.scope };
}

function sessionsOf(kit: Kit, agentId?: string): JsonObject {
  const { rows, total } = kit.store().sessions.list({ ...(agentId === undefined ? {} : { agentId }), limit: RECENT });
  const now = kit.ctx.clock.now();
  const recent = rows.map((r) => ({ key: r.key, updatedAt: r.updatedAt, age: Math.max(0, now - r.updatedAt) }));
  return { path: kit.store().status().path, count: total, recent };
}
