import { signal } from "@preact/signals";
import { request } from "./conn.js";
import { sessionOfPath } from "./places.js";
import { chatAddress, replace } from "./router.js";
import { isOnline } from "./store.js";

/**
 * The memory file that is open.
 *
 * @typedef {{ name: string, text?: string, isCut?: boolean, error?: unknown }} ShownFile
 */
export const shownFile = signal(/** @type {ShownFile} */ ({ name: "" }));

/** @param {string} path @param {string | undefined} agentId @param {number} [from] line to show; of a conversation a line is a message */
export async function openFile(path, agentId, from) {
  const name = `${agentId ?? ""}:${path}`;
  if (shownFile.value.name !== name) shownFile.value = { name };
  if (!isOnline.value) return;
  const sessionId = sessionOfPath(path);
  try {
    if (sessionId !== undefined) {
      // Messages of a session are in its chat, not in a file.
      const { key } = await request("sessions.resolve", { sessionId });
      if (shownFile.value.name === name) replace(chatAddress(key, from ? String(from) : undefined));
      return;
    }
    const answer = await request("memory.get", { path, ...(agentId === undefined ? {} : { agentId }) });
    if (shownFile.value.name !== name) return;
    if (answer.error) shownFile.value = { name, error: new Error(answer.error) };
    else shownFile.value = { name, text: String(answer.text), isCut: answer.truncated === true };
  } catch (error) {
    if (shownFile.value.name === name && isOnline.value) shownFile.value = { name, error };
  }
}
