import type { AgentInfo, SvcConfig } from "svc/sdk";

type Block = NonNullable<SvcConfig["agents"]["defaults"]["heartbeat"]>;

/** Heartbeat settings of one agent, with every default applied. */
export interface HeartbeatSettings {
  /** The agent has a heartbeat and its interval is not 0. */
  enabled: boolean;
  everyMs: number;
  /** `none`, `last` or a channel id. */
  target: string;
  to?: string;
  accountId?: string;
  model?: string;
  prompt: string;
  /** Session key, short or full. */
  session: string;
  ackMaxChars: number;
  activeHours?: NonNullable<Block["activeHours"]>;
  lightContext: boolean;
  isolatedSession: boolean;
  timeoutMs?: number;
}

const DEFAULT_EVERY_MS = 30 * 60_000;
const DEFAULT_PROMPT =
  "This is a periodic check, nobody is waiting. Follow HEARTBEAT.md if it is part of your workspace files, and deal with the System: lines above, if there are any. Do not take up old tasks from this conversation again. If nothing needs attention, reply with HEARTBEAT_OK and nothing else.";

/** The block of an agent over that of the defaults, key by key. Once an agent has a block of its own, only those with one have a heartbeat. Pure. */
export function resolveHeartbeat({ agents }: SvcConfig, agentId: string): HeartbeatSettings {
  const own = agents.list.find((agent) => agent.id === agentId)?.heartbeat;
  const isLeftOut = own === undefined && agents.list.some((agent) => agent.heartbeat !== undefined);
  const block: Block = { ...agents.defaults.heartbeat, ...own };
  const everyMs = isLeftOut ? 0 : (block.every ?? DEFAULT_EVERY_MS);
  return {
    enabled: everyMs > 0,
    everyMs,
    target: block.target ?? "none",
    prompt: block.prompt ?? DEFAULT_PROMPT,
    session: block.session ?? "main",
    ackMaxChars: block.ackMaxChars ?? 300,
    lightContext: block.lightContext ?? false,
    isolatedSession: block.isolatedSession ?? false,
    ...(block.to === undefined ? {} : { to: block.to }),
    ...(block.accountId === undefined ? {} : { accountId: block.accountId }),
    ...(block.model === undefined ? {} : { model: block.model }),
    ...(block.activeHours === undefined ? {} : { activeHours: block.activeHours }),
    ...(block.timeoutSeconds === undefined ? {} : { timeoutMs: block.timeoutSeconds * 1_000 }),
  };
}

/** Plan of heartbeats, as health and status show it. */
export interface HeartbeatPlan {
  enabled: boolean;
  /** As one would write it in the config: `30m`. */
  every: string;
  everyMs: number;
  target: string;
}

/** @param on false while `set-heartbeats` has switched all of them off */
export function toPlan({ enabled, everyMs, target }: HeartbeatSettings, on: boolean): HeartbeatPlan {
  return { enabled: enabled && on, every: formatInterval(everyMs), everyMs, target };
}

/** `1h30m`, `45s`; `0m` when it is off. */
export function formatInterval(ms: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1_000],
    ["ms", 1],
  ] as const;
  let left = Math.round(ms);
  let text = "";
  for (const [unit, size] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || "0m";
}

/** Whether two configs arm the timer of an agent alike: everything else is read when it ticks. */
export function sameInterval(a: HeartbeatSettings | undefined, b: HeartbeatSettings): boolean {
  return a !== undefined && a.enabled === b.enabled && a.everyMs === b.everyMs;
}

/** Settings of all agents, by id. */
export function resolveHeartbeats(config: SvcConfig, agents: readonly Pick<AgentInfo, "id">[]): Map<string, HeartbeatSettings> {
  return new Map(agents.map(({ id }) => [id, resolveHeartbeat(config, id)]));
}
