import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { SvcConfig } from "./config/root.ts";
import { commonErrors } from "./errors.ts";
import { idFault } from "./text/id-text.ts";
import type { AgentInfo } from "./types/agents.ts";

type AgentEntry = SvcConfig["agents"]["list"][number];
type AgentSettings = Pick<AgentEntry, keyof AgentEntry & keyof SvcConfig["agents"]["defaults"]>;

/** Id of the agent where none is configured. */
export const DEFAULT_AGENT_ID = "main";
/** Id of the model provider that comes with svc and quotes notes: it answers where no language model can. */
export const EMBEDDED_PROVIDER_ID = "recall";
/** Last part of the key of an agent's own session. */
export const MAIN_KEY = "main";

/** `~` and paths relative to `base` → absolute. */
export function expandPath(path: string, base: string): string {
  const home = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
  return isAbsolute(home) ? home : resolve(base, home);
}

/** The configured agents with workspaces and models resolved; an empty list means one implicit agent `main`. Pure. */
export function resolveAgents(config: SvcConfig, stateDir: string): AgentInfo[] {
  const list: AgentEntry[] = config.agents.list.length > 0 ? config.agents.list : [{ id: DEFAULT_AGENT_ID }];
  const defaultId = (list.find((a) => a.default) ?? (list[0] as AgentEntry)).id;
  return list.map((entry) => {
    const isDefault = entry.id === defaultId;
    const own = entry.workspace ?? (isDefault ? config.agents.defaults.workspace : undefined);
    return {
      id: entry.id,
      ...(entry.name ? { name: entry.name } : {}),
      isDefault,
      workspace: own ? expandPath(own, stateDir) : join(stateDir, isDefault ? "workspace" : `workspace-${entry.id}`),
      models: modelList(entry.model ?? config.agents.defaults.model),
      identity: definedOnly(entry.identity ?? {}),
    };
  });
}

/** One setting of an agent: its own value, else the default's. */
export function agentSetting<K extends keyof AgentSettings>(config: SvcConfig, agentId: string, key: K): AgentSettings[K] {
  const own = config.agents.list.find((a) => a.id === agentId)?.[key];
  return own ?? (config.agents.defaults[key] as AgentSettings[K]);
}

/** The default agent's id. */
export function defaultAgentId(config: SvcConfig): string {
  const list = config.agents.list;
  return (list.find((a) => a.default) ?? list[0])?.id ?? DEFAULT_AGENT_ID;
}

/** Key of an agent's main session. */
export function mainSessionKey(agentId: string): string {
  return `agent:${agentId}:${MAIN_KEY}`;
}

/** Longest session key, in UTF-16 units. */
export const MAX_SESSION_KEY = 512;

/**
 * A caller's session key in full form: `agent:<agentId>:<rest>`. Short keys belong to `agentId`; the rest keeps its case.
 * @throws {SvcError} `invalid-session-key` for empty or too long ones, control characters and lone surrogates, and when a full key names another agent than an explicit one
 */
export function canonicalSessionKey(key: string, agentId: string, explicitAgent = false): { key: string; agentId: string } {
  const text = key.trim();
  if (text === "") throw commonErrors.invalidSessionKey({ reason: "expected at least one character" });
  if (text.length > MAX_SESSION_KEY) throw commonErrors.invalidSessionKey({ reason: `longer than ${MAX_SESSION_KEY} characters` });
  const fault = idFault(text);
  if (fault !== undefined) throw commonErrors.invalidSessionKey({ reason: fault });
  const parts = /^agent:([^:]+):(.+)$/s.exec(text);
  if (!parts) {
    if (text.startsWith("agent:")) throw commonErrors.invalidSessionKey({ reason: "expected agent:<agentId>:<key>" });
    return { key: `agent:${agentId}:${text}`, agentId };
  }
  const owner = (parts[1] as string).toLowerCase();
  if (explicitAgent && owner !== agentId) {
    throw commonErrors.invalidSessionKey({ reason: `it belongs to agent "${owner}", but agent "${agentId}" was named` });
  }
  return { key: `agent:${owner}:${parts[2]}`, agentId: owner };
}

/** Part of a session key after `agent:<id>:`, lower-cased: the form that rules and policies match. */
export function normalizedSessionKey(key: string): string {
  return key.replace(/^agent:[^:]+:/, "").toLowerCase();
}

function modelList(model: AgentSettings["model"]): string[] {
  if (model === undefined) return [];
  return typeof model === "string" ? [model] : [model.primary, ...model.fallbacks];
}

function definedOnly<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}
