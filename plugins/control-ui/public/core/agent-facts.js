import { age, count, plural } from "./format.js";

/**
 * Facts shown about agents. Pure.
 *
 * @typedef {{ id: string, name?: string, identity?: { name?: string, emoji?: string }, workspace: string, model?: { primary: string, fallbacks?: string[] } }} Agent
 * @typedef {{ provider: string, model: string, state: string, reason?: string, until?: number }} ModelState
 * @typedef {{ agentId: string, isDefault: boolean, setBy?: string, models: ModelState[] }} AgentModels
 * @typedef {{ name: string, path: string, missing: boolean, size?: number, updatedAtMs?: number }} AgentFile
 * @typedef {{ profile: string, groups: Array<{ id: string, label: string, tools: Array<{ id: string, label: string }> }> }} Tools
 * @typedef {{ agents: Agent[], defaultId: string, models: AgentModels[] }} Agents
 */

/** Name of an agent: how it calls itself, else how the config calls it. @param {Agent} agent */
export function nameOf({ id, name, identity }) {
  return identity?.name ?? name ?? id;
}

/** The model that answers, with its provider. @param {ModelState | undefined} model */
export function modelName(model) {
  if (!model) return "no model";
  return model.provider === "" ? model.model : `${model.provider}/${model.model}`;
}

/** A word and a colour for a model. @param {ModelState} model @returns {{ word: string, level: "ok" | "info" | "warn" | "bad" | "" }} */
export function modelState({ state }) {
  if (state === "ready") return { word: "ready", level: "ok" };
  if (state === "embedded") return { word: "quotes notes", level: "info" };
  if (state === "cooldown") return { word: "in cooldown", level: "warn" };
  if (state === "unknown") return { word: "not offered", level: "bad" };
  return { word: state === "key-rejected" ? "key rejected" : state, level: "bad" };
}

/** Describes a file of an agent's workspace. @param {AgentFile} file @param {number} now */
export function fileWords({ missing, size, updatedAtMs }, now) {
  if (missing) return "not there yet";
  const bytes = size === undefined ? "" : size < 1_000 ? plural(size, "byte") : `${count(Math.round(size / 100) / 10)} kB`;
  return [bytes, updatedAtMs === undefined ? "" : `changed ${age(updatedAtMs, now)}`].filter(Boolean).join(", ");
}

/** Words about what an agent is for, by the name of a file. @type {Readonly<Record<string, string>>} */
export const filePurposes = {
  "AGENTS.md": "Rules for its work",
  "SOUL.md": "Character and tone",
  "TOOLS.md": "Notes about its tools",
  "IDENTITY.md": "Name and looks",
  "USER.md": "About the people it works for",
  "HEARTBEAT.md": "What it looks at by itself",
  "BOOTSTRAP.md": "Read in its first conversation",
  "MEMORY.md": "What it keeps in mind",
};

/** Sentence with the number of agents. @param {Agents} agents */
export function sentenceOf({ agents, defaultId }) {
  return `${plural(agents.length, "agent")}, the default one is ${defaultId}.`;
}
