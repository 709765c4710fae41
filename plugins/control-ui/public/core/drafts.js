import { kept } from "./env.js";

/** Maximum number of drafts by session (typed and not sent); the oldest are dropped first. */
const MAX_DRAFTS = 50;
const PREFIX = "draft:";

/**
 * Place of an earlier question that a draft is to be asked in, in a branch of its own.
 * @typedef {{ seq: number, sessionId: string, id: string }} Edit `id`: of the fork that is asked for, which is made once
 */

/** @param {string} sessionKey @returns {Edit | undefined} */
export function readEdit(sessionKey) {
  return parse(kept.get(PREFIX + sessionKey))?.edit;
}

/** @param {string} sessionKey */
export function readDraft(sessionKey) {
  return parse(kept.get(PREFIX + sessionKey))?.text ?? "";
}

/** @param {string} sessionKey @param {string} text @param {Edit | undefined} [edit] */
export function writeDraft(sessionKey, text, edit) {
  if (text === "") {
    kept.remove(PREFIX + sessionKey);
    return;
  }
  kept.set(PREFIX + sessionKey, JSON.stringify({ text, at: Date.now(), ...(edit ? { edit } : {}) }));
  const names = kept.names(PREFIX);
  if (names.length <= MAX_DRAFTS) return;
  const oldest = names.sort((a, b) => (parse(kept.get(a))?.at ?? 0) - (parse(kept.get(b))?.at ?? 0));
  for (const name of oldest.slice(0, names.length - MAX_DRAFTS)) kept.remove(name);
}

/** @param {string | null} stored @returns {{ text: string, at: number, edit?: Edit } | undefined} */
function parse(stored) {
  try {
    const value = JSON.parse(stored ?? "");
    return typeof value?.text === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
