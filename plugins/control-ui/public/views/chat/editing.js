import { takeAttached } from "../../core/attached.js";
import { request } from "../../core/conn.js";
import { send } from "../../core/delivery.js";
import { writeDraft } from "../../core/drafts.js";
import { html } from "../../core/html.js";
import { chatAddress, go } from "../../core/router.js";
import { readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";
import { Button } from "../../ui/button.js";

/** @typedef {import("./composer.js").Editing} Editing */

/** Says above the field that what is typed there is a new form of an earlier question. @param {{ edit: Editing, onEnd: () => void }} props */
export default function EditingBar({ edit: { isSending, error }, onEnd }) {
  return html`<div class="editing small">
    <p role=${error === undefined ? "status" : "alert"} class=${error === undefined ? "muted" : "bad"}>${
      isSending ? texts.makingBranch : error === undefined ? texts.editingEarlier : texts.noBranch(error)
    }</p>
    ${!isSending && html`<${Button} kind="slim" onClick=${onEnd}>${texts.endInstead}<//>`}
  </div>`;
}

/**
 * Asks in a branch of its own: forks the session before the question, then sends. Until the branch is there the text stays in the field; asked for again, the same one is made.
 * @param {import("../../core/chat.js").Chat} chat @param {Editing} edit
 * @param {{ text: string, setEdit: (edit: Editing | undefined) => void }} of
 */
export async function askInBranch(chat, edit, { text, setEdit }) {
  if (edit.isSending || readOnlyReason.value) return;
  const { seq, sessionId: expectedSessionId, id: idempotencyKey } = edit;
  setEdit({ seq, sessionId: expectedSessionId, id: idempotencyKey, isSending: true });
  try {
    const { key } = await request("sessions.fork", { key: chat.key, seq, expectedSessionId, idempotencyKey });
    // From here on the message is in the outbox of its own conversation.
    send(key, text.trim(), takeAttached(chat.key));
    writeDraft(chat.key, "");
    go(chatAddress(key));
  } catch (error) {
    setEdit({ ...edit, error: /** @type {Error} */ (error).message });
  }
}
