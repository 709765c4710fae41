import { exportChat } from "../../core/export.js";
import { panelAddress, panelsAt } from "../../core/panel-facts.js";
import { panels } from "../../core/panels.js";
import { isOnline } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";
import { announce } from "../../ui/announce.js";
import { Close, File } from "../../ui/icons.js";
import { openMenu } from "../../ui/menu.js";
import { iconOf } from "../panels/icon.js";

/** @type {AbortController | undefined} */
let exporting;

/** Opens the menu of a whole conversation. @param {HTMLElement} button @param {string} sessionKey */
export function openChatMenu(button, sessionKey) {
  const blocked = isOnline.value ? undefined : texts.notConnectedGateway;
  openMenu(button, texts.moreAboutConversation, [
    { word: texts.exportMarkdown, icon: File, blocked, run: () => run(sessionKey, "md") },
    { word: texts.exportJson, icon: File, blocked, run: () => run(sessionKey, "json") },
    ...panelsAt(panels.value, "session").map((panel) => ({
      word: panel.label,
      icon: iconOf(panel),
      href: panelAddress(panel, { sessionKey }),
    })),
    ...(exporting ? [{ word: texts.cancelExport, icon: Close, run: () => exporting?.abort() }] : []),
  ]);
}

/** @param {string} sessionKey @param {"md" | "json"} kind */
async function run(sessionKey, kind) {
  exporting?.abort();
  const own = new AbortController();
  exporting = own;
  announce(texts.readingConversation);
  try {
    announce(await exportChat(sessionKey, kind, own.signal));
  } catch (error) {
    announce(own.signal.aborted ? texts.exportCancelled : texts.notExported(/** @type {Error} */ (error).message));
  } finally {
    if (exporting === own) exporting = undefined;
  }
}
