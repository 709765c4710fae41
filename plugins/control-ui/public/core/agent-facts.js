import { texts } from "../texts/agents.js";
import { age, count, list, plural } from "./format.js";

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
  if (!model) return texts.noModel;
  return model.provider === "" ? model.model : `${model.provider}/${model.model}`;
}

/** A word and a colour for a model. @param {ModelState} model @returns {{ word: string, level: "ok" | "info" | "warn" | "bad" | "" }} */
export function modelState({ state }) {
  if (state === "ready") return { word: texts.ready, level: "ok" };
  if (state === "embedded") return { word: texts.quotesNotes, level: "info" };
  if (state === "cooldown") return { word: texts.cooldown, level: "warn" };
  if (state === "unknown") return { word: texts.notOffered, level: "bad" };
  return { word: state === "key-rejected" ? texts.keyRejected : state, level: "bad" };
}

/** Describes a file of an agent's workspace. @param {AgentFile} file @param {number} now */
export function fileWords({ missing, size, updatedAtMs }, now) {
  if (missing) return texts.notThereYet;
  const bytes = size === undefined ? "" : size < 1_000 ? plural(size, texts.bytes) : texts.kb(count(Math.round(size / 100) / 10));
  return list([bytes, updatedAtMs === undefined ? "" : texts.changed(age(updatedAtMs, now))].filter(Boolean));
}

/** Words about what an agent is for, by the name of a file. @type {Readonly<Record<string, string>>} */
export const filePurposes = {
  "AGENTS.md": texts.rulesWork,
  "SOUL.md": texts.characterTone,
  "TOOLS.md": texts.notesAboutTools,
  "IDENTITY.md": texts.nameLooks,
  "USER.md": texts.aboutPeopleWorks,
  "HEARTBEAT.md": texts.looksItself,
  "BOOTSTRAP.md": texts.readFirstConversation,
  "MEMORY.md": texts.keepsMind,
};

/** Sentence with the number of agents. @param {Agents} agents */
export function sentenceOf({ agents, defaultId }) {
  return texts.defaultOne({ agents: plural(agents.length, texts.agents), defaultId });
}
