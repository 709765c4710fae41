import { request } from "./conn.js";
import { ofTab } from "./env.js";
import { createReading } from "./reading.js";

/**
 * State of the agents view.
 *
 * @typedef {import("./agent-facts.js").Agents} Agents
 * @typedef {import("./agent-facts.js").AgentFile} AgentFile
 * @typedef {import("./agent-facts.js").Tools} Tools
 * @typedef {{ name: string, path: string, missing: boolean, hash?: string, content?: string }} OpenFile
 * @typedef {{ content: string, hash: string | undefined }} FileDraft `hash`: of the state that it was typed over
 */

export const agents = createReading(readAgents);

/** @returns {Promise<Agents>} */
async function readAgents() {
  const [list, models] = await Promise.all([request("agents.list"), request("models.status").catch(() => undefined)]);
  return { agents: list.agents, defaultId: list.defaultId, models: models?.agents ?? [] };
}

/** Files and tools of one agent. @param {string} agentId @returns {Promise<{ files: AgentFile[], tools: Tools }>} */
export async function readDetail(agentId) {
  const [{ files }, tools] = await Promise.all([
    request("agents.files.list", { agentId }),
    request("tools.effective", { sessionKey: `agent:${agentId}:main` }),
  ]);
  return { files, tools };
}

/** @param {string} agentId @param {{ name?: string, model?: string | null }} change */
export async function updateAgent(agentId, change) {
  await request("agents.update", { agentId, ...change });
  await agents.read();
}

/** @param {string} agentId @param {string} name @returns {Promise<OpenFile>} */
export async function readFile(agentId, name) {
  return (await request("agents.files.get", { agentId, name })).file;
}

/**
 * @param {string} agentId @param {string} name @param {FileDraft} draft
 * @returns {Promise<OpenFile>}
 * @throws {import("svc/sdk/client").ClientError} when somebody else has changed it since it was read, see `isConflict`
 */
export async function saveFile(agentId, name, { content, hash }) {
  return (await request("agents.files.set", { agentId, name, content, ...(hash === undefined ? {} : { expectedHash: hash }) })).file;
}

/** @param {unknown} error */
export function isConflict(error) {
  return /** @type {any} */ (error).details?.type === "agent_file_conflict";
}

/** @param {string} agentId @param {string} name */
const draftName = (agentId, name) => `agent-file:${agentId}/${name}`;

/** Draft of a file, typed and not saved, also before a reload. @param {string} agentId @param {string} name @returns {FileDraft | undefined} */
export function keptFile(agentId, name) {
  try {
    return JSON.parse(ofTab.get(draftName(agentId, name)) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} agentId @param {string} name @param {FileDraft} draft */
export function keepFile(agentId, name, draft) {
  ofTab.set(draftName(agentId, name), JSON.stringify(draft));
}

/** @param {string} agentId @param {string} name */
export function forgetFile(agentId, name) {
  ofTab.remove(draftName(agentId, name));
}
