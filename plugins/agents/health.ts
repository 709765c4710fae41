import { cutEnd, DEFAULT_AGENT_ID, type HealthPart, type JsonObject, MAIN_KEY, type MemoryFigures, mainSessionKey } from "svc/sdk";
import { optionalService } from "./common/optional-service.ts";
import type { Heartbeats } from "./heartbeat/heartbeats.ts";
import { EVENTS_PER_PROMPT } from "./heartbeat/system-lines.ts";
import type { Kit } from "./kit.ts";
import { unframed } from "./sessions/display.ts";
import { contextTokensOf } from "./sessions/wire.ts";

const RECENT = 5;
/** Maximum length of a waiting event in `status`. */
const MAX_EVENT_CHARS = 200;

/** Parts of the health snapshot that this plugin knows, and those of `status` alone. */
export async function healthParts(kit: Kit, heartbeats: Pick<Heartbeats, "figures">, problems: readonly string[]): Promise<HealthPart[]> {
  const listed = kit.directory.list().map(async (agent) => ({
    agentId: agent.id,
    isDefault: agent.isDefault,
    heartbeat: planOf(heartbeats, agent.id),
    sessions: await sessionsOf(kit, agent.id),
    ...memoryOf(kit, agent.id),
  }));
  const agents = await Promise.all(listed);
  const byAgent = agents.map(({ agentId, sessions }) => ({ agentId, ...sessions }));
  const { enabled, everyMs } = heartbeats.figures(kit.directory.defaultId);
  return [
    { part: "agents", ok: problems.length === 0, value: agents, ...(problems.length > 0 ? { message: problems.join("; ") } : {}) },
    { part: "sessions", ok: true, value: await sessionsOf(kit) },
    { part: "heartbeatSeconds", ok: true, value: enabled ? everyMs / 1_000 : 0 },
    { part: "defaultAgentId", ok: true, value: kit.directory.defaultId },
    { part: "queues", ok: true, value: { lanes: kit.lanes.lanes, queued: kit.lanes.queued, active: kit.lanes.active } },
    modelsPart(kit),
    ...(await statusParts(kit, heartbeats, byAgent)),
  ];
}

/** The model in force of each agent. Nobody is asked for it: what is known of servers comes from calls and from looks in the background. */
function modelsPart(kit: Kit): HealthPart {
  const rows = kit.directory.list().map((agent) => kit.modelStates.of(agent));
  const notice = kit.modelStates.notice();
  const wrong = rows.filter(({ state }) => state !== "ready" && state !== "none" && state !== "embedded");
  const problems = wrong.map(({ agentId, provider, model, reason }) => `agent "${agentId}" with ${provider}/${model}: ${reason}`);
  const isWithout = rows.some(({ state }) => state === "embedded");
  if (isWithout && notice !== undefined) problems.push(`no language model can answer: ${notice}`);
  return {
    part: "models",
    ok: problems.length === 0,
    critical: false,
    value: rows,
    ...(problems.length > 0 ? { message: problems.join("; ") } : {}),
  };
}

async function statusParts(kit: Kit, heartbeats: Pick<Heartbeats, "figures">, byAgent: JsonObject[]): Promise<HealthPart[]> {
  const agents = kit.directory.list();
  const waiting = await kit.store().systemEvents.pending(mainSessionKey(kit.directory.defaultId), EVENTS_PER_PROMPT);
  const own = (part: string, value: unknown): HealthPart => ({ part, ok: true, only: "status", value });
  return [
    own("heartbeat", {
      defaultAgentId: kit.directory.defaultId,
      agents: agents.map(({ id }) => ({ agentId: id, ...heartbeats.figures(id) })),
    }),
    own(
      "queuedSystemEvents",
      waiting.map((event) => cutEnd(unframed(event.text), MAX_EVENT_CHARS)),
    ),
    own("sessions", { defaults: defaultsOf(kit), byAgent }),
  ];
}

/** Facts a client needs to open the right session first. */
export function sessionDefaults(kit: Pick<Kit, "directory" | "config">): JsonObject {
  const defaultAgentId = kit.directory.defaultId ?? DEFAULT_AGENT_ID;
  return { defaultAgentId, mainKey: MAIN_KEY, mainSessionKey: mainSessionKey(defaultAgentId), scope: kit.config.session.scope };
}

/** Times are left out: a new one at each heartbeat would make a new version of health. */
function planOf(heartbeats: Pick<Heartbeats, "figures">, agentId: string): JsonObject {
  const { enabled, every, everyMs, target } = heartbeats.figures(agentId);
  return { enabled, every, everyMs, target };
}

function defaultsOf(kit: Kit): JsonObject {
  const agent = kit.directory.get(kit.directory.defaultId);
  const standard = kit.models.standard(agent);
  return {
    modelProvider: standard?.provider ?? null,
    model: standard?.model ?? null,
    contextTokens: contextTokensOf(kit, { agentId: agent.id }) ?? null,
  };
}

/** Figures of whoever provides the memory, when somebody does. */
function memoryOf(kit: Kit, agentId: string): { memory?: MemoryFigures } {
  const memory = optionalService(kit.ctx, "memory@1")?.figures(agentId);
  return memory ? { memory } : {};
}

async function sessionsOf(kit: Kit, agentId?: string): Promise<JsonObject> {
  const { rows, total } = await kit.store().sessions.list({ ...(agentId === undefined ? {} : { agentId }), limit: RECENT });
  const now = kit.ctx.clock.now();
  const recent = rows.map((r) => ({ key: r.key, updatedAt: r.updatedAt, age: Math.max(0, now - r.updatedAt) }));
  return { path: kit.store().status().endpoint, count: total, recent };
}
