import { useEffect, useState } from "preact/hooks";
import { detach } from "../../core/attached.js";
import { takeFiles } from "../../core/attaching.js";
import { acceptOf, blindWords, sizeWords } from "../../core/attachment-facts.js";
import { agentOf, inputOf, modelsOf, readModels } from "../../core/chat-models.js";
import { html } from "../../core/html.js";
import { isOnline } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";
import { Button } from "../../ui/button.js";
import { Close, File } from "../../ui/icons.js";

/** @typedef {import("../../core/attached.js").Attached} Attached */

/** Filter of the file chooser for a chat: recordings only where its model is not known to be without ears. @param {string} sessionKey */
export function acceptFor(sessionKey) {
  readModels(agentOf(sessionKey)).catch(() => undefined);
  const input = inputOf(sessionKey);
  return acceptOf(!input || input.includes("audio"));
}

/**
 * Files that go with the next message, each to be seen and to be taken back.
 * @param {{ chat: import("../../core/chat.js").Chat, files: Attached[], picked: File[] | undefined, onTaken: () => void }} props `picked`: to be looked at first
 */
export default function Tray({ chat, files, picked, onTaken }) {
  const [problems, setProblems] = useState(/** @type {string[]} */ ([]));
  const agentId = agentOf(chat.key);
  useEffect(() => {
    if (!picked || picked.length === 0) return;
    const look = () => {
      setProblems(takeFiles(chat.key, picked));
      onTaken();
    };
    // A moment is spent on asking for the model; without an answer the gateway will say what it thinks of the files.
    if (modelsOf(agentId) || !isOnline.value) look();
    else readModels(agentId).then(look, look);
  }, [picked]);
  const blind = blindWords(files, inputOf(chat.key));
  /** @param {Attached} file */
  const remove = (file) => {
    detach(chat.key, file);
    setProblems([]);
    /** @type {HTMLElement | null} */ (document.querySelector(".composer textarea"))?.focus();
  };
  return html`<div class="tray">
    ${problems.length > 0 && html`<ul class="notice bad" role="alert">${problems.map((text, i) => html`<li key=${i}><bdi>${text}</bdi></li>`)}</ul>`}
    ${
      files.length > 0 &&
      html`<ul class="tray-files" aria-label=${texts.attached}>${files.map(
        (file) => html`<li key=${file}>
        ${file.preview ? html`<img src=${file.preview} alt="" />` : html`<${File} />`}
        <span class="tray-name"><bdi class="cut" title=${file.name}>${file.name}</bdi><span class="muted small">${sizeWords(file.size)}</span></span>
        <${Button} kind="quiet" icon=${Close} label=${texts.remove(file.name)} onClick=${() => remove(file)} />
      </li>`,
      )}</ul>`
    }
    ${blind && html`<p class="muted small" role="status">${blind}</p>`}
  </div>`;
}
