import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { beginLogin, finishLogin } from "../../core/mcp.js";
import { answerIn, CALLBACK_PORT, safeAddress } from "../../core/mcp-facts.js";
import { texts } from "../../texts/mcp.js";
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
      announce(texts.asksNoLogin(server));
      onClose();
    });
  const finish = () =>
    run(async () => {
      const query = answerIn(answer);
      if (query === undefined) throw new Error(texts.thereNoAnswer);
      await finishLogin(server, query);
      announce(texts.logged(server));
      onClose();
    });
  const link = address && safeAddress(address);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void (address === undefined ? begin() : finish());
  };
  return html`<${Dialog} label=${texts.logInAt(server)} onClose=${onClose}>
    <form class="mcp-login" onSubmit=${submit} novalidate>
      <h2>${texts.logInAt(server)}</h2>
      ${
        address === undefined
          ? html`<p>${texts.gatewayAsksServer}</p>
            ${
              isRegistered &&
              html`<label><span class="label">${texts.portAddressClient}</span><input class="field" type="number" min="1" max="65535" value=${port}
                onInput=${(/** @type {any} */ e) => setPort(e.currentTarget.value)} /></label>`
            }`
          : html`<ol class="steps">
              <li>${link ? html`<a href=${link} target="_blank" rel="noopener noreferrer">${texts.openLogin}</a> <${CopyButton} text=${address} label=${texts.copyAddress} />` : html`<span class="wrap">${address}</span>`}</li>
              <li>${texts.agreeThereBrowser}</li>
              <li><label>${texts.copyWholeAddress}<input class="field mono" type="text" autocomplete="off" spellcheck="false" maxlength="8192" value=${answer}
                onInput=${(/** @type {any} */ e) => setAnswer(e.currentTarget.value)} /></label></li>
            </ol>`
      }
      ${error && html`<p class="notice bad" role="alert">${error}</p>`}
      <div class="actions">
        <${Button} onClick=${onClose} autofocus=${true}>${texts.cancel}<//>
        <${Button} type="submit" kind="primary">${isBusy ? texts.working : address === undefined ? texts.begin : texts.finish}<//>
      </div>
    </form>
  <//>`;
}
