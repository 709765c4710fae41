import { useEffect, useRef, useState } from "preact/hooks";
import { sentWords } from "../../core/channel-facts.js";
import { sendTest } from "../../core/channels.js";
import { html } from "../../core/html.js";
import { readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/channels.js";
import { Button } from "../../ui/button.js";

/** A sentence with the name of this gateway to one recipient, and what became of it. @param {{ channel: string, accountId: string, title: string, onClose: () => void }} props */
export default function TestMessage({ channel, accountId, title, onClose }) {
  const [to, setTo] = useState("");
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState("");
  const [failed, setFailed] = useState("");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.focus(), []);
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (busy || to.trim() === "" || readOnlyReason.value) return;
    setBusy(true);
    setSent("");
    setFailed("");
    try {
      setSent(sentWords(await sendTest({ channel, accountId }, to.trim())));
    } catch (error) {
      setFailed(/** @type {Error} */ (error).message);
    }
    setBusy(false);
  };
  return html`<form class="below stack" aria-label=${texts.testMessageThrough(title)} onSubmit=${submit}
    onKeyDown=${(/** @type {KeyboardEvent} */ e) => e.key === "Escape" && onClose()}>
    <p class="muted small">${texts.sentenceNameGateway}</p>
    <div class="line">
      <label class="grow"><span class="label">${texts.recipient}</span>
        <input ref=${field} class="field" maxlength="512" autocomplete="off" spellcheck=${false} value=${to} aria-invalid=${failed ? "true" : undefined}
          onInput=${(/** @type {any} */ e) => setTo(e.currentTarget.value)} /></label>
      <${Button} type="submit" kind="primary" blocked=${readOnlyReason.value}>${busy ? texts.sending : texts.send}<//>
      <${Button} onClick=${onClose}>${texts.close}<//>
    </div>
    <p role="status" class=${sent ? "wrap" : "sr-only"}>${sent}</p>
    ${failed && html`<p class="reason bad wrap" role="alert">${texts.notSent(failed)}</p>`}
  </form>`;
}
