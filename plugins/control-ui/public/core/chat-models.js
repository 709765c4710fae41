import { signal } from "@preact/signals";
import { request } from "./conn.js";
import { sessionRow } from "./sessions.js";

/**
 * Models and agents to choose among for a conversation, read when somebody looks.
 *
 * @typedef {{ id: string, name: string, provider: string, alias?: string, tags?: string[], available?: boolean, unavailableReason?: string,
 *   contextWindow?: number, input?: string[] }} Model
 * @typedef {{ id: string, name?: string, identity?: { name?: string }, model?: { primary: string } }} Agent
 */

/** By agent. */
const lists = signal(/** @type {Readonly<Record<string, Model[]>>} */ ({}));

/** @param {string} sessionKey */
export function agentOf(sessionKey) {
  return /^agent:([^:]+):/.exec(sessionKey)?.[1] ?? "main";
}

/** @param {string} agentId @returns {Model[] | undefined} undefined until they were read */
export function modelsOf(agentId) {
  return lists.value[agentId];
}

/** @param {string} agentId */
export async function readModels(agentId) {
  const { models } = await request("models.list", { agentId });
  lists.value = { ...lists.value, [agentId]: models };
}

/** @returns {Promise<{ agents: Agent[], defaultId: string }>} */
export function readAgents() {
  return request("agents.list");
}

/** Kinds of content that the model which would answer reads; undefined when nobody has said. @param {string} sessionKey */
export function inputOf(sessionKey) {
  const models = modelsOf(agentOf(sessionKey)) ?? [];
  const chosen = sessionRow(sessionKey)?.model;
  const model = models.find(({ provider, id, tags }) => (chosen ? `${provider}/${id}` === chosen : tags?.includes("default")));
  return (model ?? (models.length === 1 && !chosen ? models[0] : undefined))?.input;
}

/** Model of a conversation; null takes the choice back. A conversation that has not begun begins here. @param {string} key @param {string | null} model */
export async function chooseModel(key, model) {
  const row = sessionRow(key);
  if (row) await request("sessions.patch", { key, ...(row.sessionId ? { expectedSessionId: row.sessionId } : {}), model });
  else if (model !== null) await request("sessions.create", { key, model });
}
