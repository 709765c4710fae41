import { signal } from "@preact/signals";
import { request } from "./conn.js";
import { ofTab } from "./env.js";
import { readMemory } from "./memory.js";

/**
 * Notes that are written in the page.
 *
 * @typedef {import("./note-facts.js").Note} Note
 * @typedef {import("./note-facts.js").NoteDraft} NoteDraft
 */

/** Rises with each draft that is kept or gone. */
const changes = signal(0);

/** @param {string} agentId @param {string} path @returns {Promise<Note>} */
export async function readNote(agentId, path) {
  return (await request("memory.files.get", { agentId, path })).file;
}

/**
 * @param {string} agentId @param {string} path @param {{ content: string, hash: string | null }} draft
 * @returns {Promise<{ file: Note, isIndexed: boolean }>} `isIndexed`: a search finds it from now on
 * @throws {import("svc/sdk/client").ClientError} when somebody else has changed it since it was read, see `isConflict`
 */
export async function saveNote(agentId, path, { content, hash }) {
  const { file, indexed } = await request("memory.files.set", { agentId, path, content, expectedHash: hash });
  void readMemory(agentId);
  return { file: { ...file, content }, isIndexed: indexed };
}

/** @param {unknown} error */
export function isConflict(error) {
  return /** @type {any} */ (error).details?.type === "memory_note_conflict";
}

/** @param {string} agentId @param {string} path empty for a note without a file */
function draftName(agentId, path) {
  return `note:${agentId}:${path}`;
}

/** Draft of a note, typed and not saved, also before a reload. @param {string} agentId @param {string} path @returns {NoteDraft | undefined} */
export function keptDraft(agentId, path) {
  try {
    return JSON.parse(ofTab.get(draftName(agentId, path)) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} agentId @param {string} path @param {NoteDraft} draft */
export function keepDraft(agentId, path, draft) {
  ofTab.set(draftName(agentId, path), JSON.stringify(draft));
  changes.value += 1;
}

/** @param {string} agentId @param {string} path */
export function forgetDraft(agentId, path) {
  ofTab.remove(draftName(agentId, path));
  changes.value += 1;
}

/** Paths of notes with unsaved changes; the empty one is a note without a file. @param {string} agentId @returns {Set<string>} */
export function draftPaths(agentId) {
  void changes.value;
  const start = draftName(agentId, "");
  return new Set(ofTab.names(start).map((name) => name.slice(start.length)));
}
