import { useEffect, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { isOnline, noAdminReason } from "../../core/store.js";
import { tokenProblem } from "../../core/webhook-facts.js";
import { hasToken, randomToken, switchOn } from "../../core/webhooks.js";
import { texts } from "../../texts/webhooks.js";
import { announce } from "../../ui/announce.js";
import { Button, Command, CopyButton } from "../../ui/button.js";

/** Switches webhooks on, with a token of their own; it can be copied until it was sent, and is gone from this page afterwards. */
export function SwitchOn() {
  const [hasOne, setHasOne] = useState(false);
  const [token, setToken] = useState("");
  const [state, setState] = useState(/** @type {{ busy?: boolean, failed?: string }} */ ({}));
  useEffect(() => {
    let isWanted = true;
    hasToken().then(
      (answer) => isWanted && setHasOne(answer),
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [isOnline.value]);
  /** @param {string} text */
  const write = (text) => {
    setToken(text);
    setState({ busy: state.busy ?? false });
  };
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (state.busy || noAdminReason.value) return;
    const isKept = hasOne && token === "";
    const problem = isKept ? undefined : tokenProblem(token);
    if (problem !== undefined) return setState({ failed: problem });
    setState({ busy: true });
    try {
      const waiting = await switchOn(isKept ? undefined : token);
      setToken("");
      setState({});
      announce(waiting.length > 0 ? texts.webhooksSwitchedNext : texts.webhooksSwitched);
    } catch (error) {
      setState({ failed: /** @type {Error} */ (error).message });
    }
  };
  return html`<section class="panel" aria-labelledby="switch-on">
    <header><h2 id="switch-on">${texts.switchThem}</h2></header>
    <form class="inside stack" onSubmit=${submit}>
      <p>${texts.otherSystemsCan}</p>
      <label><span class="label">${hasOne ? texts.anotherTokenSenders : texts.tokenSenders}</span>
        <input class="field mono" type="password" autocomplete="new-password" spellcheck=${false} maxlength="512" value=${token} aria-invalid=${state.failed ? "true" : undefined}
          onInput=${(/** @type {any} */ e) => write(e.currentTarget.value)} /></label>
      <div class="actions">
        <${Button} onClick=${() => write(randomToken())}>${texts.makeOne}<//>
        ${token !== "" && html`<${CopyButton} text=${token} label=${texts.copyToken} kind="" />`}
      </div>
      <p class="muted small">${texts.copyNowSenders} <code>svc hooks token --show</code> ${texts.printsGatewayS}</p>
      ${state.failed !== undefined && html`<p class="reason wrap" role="alert">${texts.theyStayOff(state.failed)}</p>`}
      <div class="actions"><${Button} type="submit" kind="primary" blocked=${noAdminReason.value}>${state.busy ? texts.switching : texts.switchWebhooks}<//></div>
      <details class="folded"><summary>${texts.commandLine}</summary>
        <div class="stack"><${Command} command="svc hooks token --rotate" /><${Command} command="svc config set hooks.enabled true" /></div></details>
    </form>
  </section>`;
}
