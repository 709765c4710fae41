import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { beginLogin, finishLogin } from "../../core/mcp.js";
import { answerIn, CALLBACK_PORT, safeAddress } from "../../core/mcp-facts.js";
import { announce } from "../../ui/announce.js";
import { Button, CopyButton } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";

/**
 * Login at a server: a person opens the address, agrees there, and brings back the address that the browser ends at.
 * @param {{ server: string, isRegistered: boolean, onClose: () => void }} props `isRegistered`: the client was registered by hand, with a port to come back to
 */
export default function LogIn({ server, isRegistered, onClose }) {
  const [address, setAddress] = useState(/** @type {string | undefined} */ (undefined));
  const [port, setPort] = useState(String(CALLBACK_PORT));
  const [answer, setAnswer] = useState("");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  /** @param {() => Promise<void>} act */
  const run = async (act) => {
    if (isBusy) return;
    setBusy(true);
    setError("");
    try {
      await act();
    } catch (failure) {
      setError(/** @type {Error} */ (failure).message);
    }
    setBusy(false);
  };
  const begin = () =>
    run(async () => {
      const found = await beginLogin(server, Number(port));
      if (found !== undefined) return setAddress(found);
      announce(`${server} asks for no login.`);
      onClose();
    });
  const finish = () =>
    run(async () => {
      const query = answerIn(answer);
      if (query === undefined) throw new Error("There is no answer in this. Paste the whole address that the browser ended at.");
      await finishLogin(server, query);
      announce(`Logged in at ${server}.`);
      onClose();
    });
  const link = address && safeAddress(address);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void (address === undefined ? begin() : finish());
  };
  return html`<${Dialog} label=${`Log in at ${server}`} onClose=${onClose}>
    <form class="mcp-login" onSubmit=${submit} novalidate>
      <h2>Log in at ${server}</h2>
      ${
        address === undefined
          ? html`<p>The gateway asks the server where to log in. You agree there, in a tab of its own.</p>
            ${
              isRegistered &&
              html`<label><span class="label">Port of the address that the client is registered with</span><input class="field" type="number" min="1" max="65535" value=${port}
                onInput=${(/** @type {any} */ e) => setPort(e.currentTarget.value)} /></label>`
            }`
          : html`<ol class="steps">
              <li>${link ? html`<a href=${link} target="_blank" rel="noopener noreferrer">Open the login</a> <${CopyButton} text=${address} label="Copy its address" />` : html`<span class="wrap">${address}</span>`}</li>
              <li>Agree there. The browser then ends at an address of this machine, 127.0.0.1, that shows nothing.</li>
              <li><label>Copy that whole address and paste it here:<input class="field mono" type="text" autocomplete="off" spellcheck="false" maxlength="8192" value=${answer}
                onInput=${(/** @type {any} */ e) => setAnswer(e.currentTarget.value)} /></label></li>
            </ol>`
      }
      ${error && html`<p class="notice bad" role="alert">${error}</p>`}
      <div class="actions">
        <${Button} onClick=${onClose} autofocus=${true}>Cancel<//>
        <${Button} type="submit" kind="primary">${isBusy ? "Working…" : address === undefined ? "Begin" : "Finish"}<//>
      </div>
    </form>
  <//>`;
}
