import type { Agents } from "svc/sdk";
import type { HooksConfig } from "../action.ts";
import { invalid } from "./refusal.ts";

/** The agent that an action goes to. */
export interface AgentRoute {
  agentId: string;
  /** One was named that is not there: this is the default one instead. */
  isFallback: boolean;
}

const REFUSED = "agentId is not allowed by hooks.allowedAgentIds";
/** A key in its full form names an agent, too. */
const fullKey = /^agent:([^:]*):/i;

/**
 * The agent for what was named. The allow-list looks at the agent that is resolved, and only when one was named: by id, or by a session
 * key in its full form.
 * @throws {SvcError} `hook-invalid`
 */
export function routeAgent(
  named: { agentId?: string; sessionKey?: string },
  { allowedAgentIds, agents }: Pick<HooksConfig, "allowedAgentIds"> & { agents: Pick<Agents, "list"> },
): AgentRoute {
  const list = agents.list();
  const defaultId = (list.find((agent) => agent.isDefault) ?? list[0])?.id ?? "";
  const resolve = (id: string): AgentRoute => {
    const wanted = id.trim().toLowerCase();
    const isKnown = list.some((agent) => agent.id === wanted);
    const agentId = isKnown ? wanted : defaultId;
    if (!isAllowed(agentId, allowedAgentIds)) throw invalid(REFUSED);
    return { agentId, isFallback: !isKnown };
  };
  const owner = named.sessionKey === undefined ? undefined : fullKey.exec(named.sessionKey)?.[1];
  if (owner !== undefined) resolve(owner);
  return named.agentId === undefined ? { agentId: defaultId, isFallback: false } : resolve(named.agentId);
}

function isAllowed(agentId: string, allowed: readonly string[] | undefined): boolean {
  const ids = allowed?.map((id) => id.trim().toLowerCase());
  return ids === undefined || ids.includes("*") || ids.includes(agentId);
}
