import { exportChat } from "../../core/export.js";
import { isOnline } from "../../core/store.js";
import { announce } from "../../ui/announce.js";
import { Close, File } from "../../ui/icons.js";
import { openMenu } from "../../ui/menu.js";

/** @type {AbortController | undefined} */
let exporting;

/** Opens the menu of a whole conversation. @param {HTMLElement} button @param {string} sessionKey */
export function openChatMenu(button, sessionKey) {
  const blocked = isOnline.value ? undefined : "Not connected to the gateway";
  openMenu(button, "More about this conversation", [
    { word: "Export as Markdown", icon: File, blocked, run: () => run(sessionKey, "md") },
    { word: "Export as JSON", icon: File, blocked, run: () => run(sessionKey, "json") },
    ...(exporting ? [{ word: "Cancel the export", icon: Close, run: () => exporting?.abort() }] : []),
  ]);
}

/** @param {string} sessionKey @param {"md" | "json"} kind */
async function run(sessionKey, kind) {
  exporting?.abort();
  const own = new AbortController();
  exporting = own;
  announce("Reading the conversation…");
  try {
    announce(await exportChat(sessionKey, kind, own.signal));
  } catch (error) {
    announce(own.signal.aborted ? "The export was cancelled" : `Not exported: ${/** @type {Error} */ (error).message}`);
  } finally {
    if (exporting === own) exporting = undefined;
  }
}
