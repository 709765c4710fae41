import { type AgentInfo, canonicalSessionKey, commonErrors, defaultAgentId, mainSessionKey, resolveAgents, type SvcConfig } from "svc/sdk";

/** Agent that answers, and the session in which it does. */
export interface Directory {
  readonly defaultId: string;
  list(): AgentInfo[];
  /** @throws {SvcError} `unknown-agent` */
  get(agentId: string): AgentInfo;
  /** @throws {SvcError} `unknown-agent`, `invalid-session-key` */
  resolve(target: { agentId?: string; sessionKey?: string }): { agentId: string; sessionKey: string };
}

export function createDirectory(config: SvcConfig, stateDir: string): Directory {
  const agents = resolveAgents(config, stateDir);
  const defaultId = defaultAgentId(config);

  const get = (agentId: string): AgentInfo => {
    const found = agents.find((a) => a.id === agentId.trim().toLowerCase());
    if (!found) throw commonErrors.unknownAgent({ agentId });
    return found;
  };

  return {
    defaultId,
    list: () => agents,
    get,
    resolve({ agentId, sessionKey }) {
      const named = agentId === undefined ? undefined : get(agentId).id;
      if (sessionKey === undefined) {
        const id = named ?? defaultId;
        return { agentId: id, sessionKey: mainSessionKey(id) };
      }
      const full = canonicalSessionKey(sessionKey, named ?? defaultId, named !== undefined);
      return { agentId: get(full.agentId).id, sessionKey: full.key };
    },
  };
}
