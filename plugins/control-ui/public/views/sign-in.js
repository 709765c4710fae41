import { useEffect, useRef, useState } from "preact/hooks";
import { signIn, tryNow } from "../core/conn.js";
import { html } from "../core/html.js";
import { refusalOf } from "../core/refusal.js";
import { connection, now } from "../core/store.js";
import { texts } from "../texts/sign-in.js";
import { Button, Command } from "../ui/button.js";
import { Notice } from "../ui/states.js";

/** Sign-in page: the obstacle between a person and the gateway, and the next step. */
export default function SignIn() {
  const shown = useRef(connection.value);
  // An attempt that goes on by itself must not make the text flicker.
  if (connection.value.state !== "connecting") shown.current = connection.value;
  const state = shown.current;
  const isPairing = "error" in state && state.error?.detailCode === "PAIRING_REQUIRED";
  if (state.state === "waiting" && !isPairing) return html`<${Unreachable} error=${state.error} />`;
  if (state.state !== "refused" && state.state !== "waiting") return html`<div class="sign-in" aria-busy="true"></div>`;
  const refusal = refusalOf(state.error, location);
  if (refusal.kind === "secret") return html`<${SecretForm} key=${state.error} refusal=${refusal} />`;
  const next = { version: () => location.reload(), pairing: tryNow, other: () => signIn({}) };
  return html`<section class="sign-in panel" aria-live="polite">
    <h1>${refusal.title}</h1>
    <p>${refusal.text}</p>
    ${refusal.lines.map((line) => html`<${Command} key=${line} command=${line} />`)}
    <div class="actions"><${Button} kind="primary" onClick=${next[refusal.kind]}>
      ${refusal.kind === "version" ? texts.reload : texts.tryAgain}
    <//></div>
  </section>`;
}

/** @param {{ refusal: Extract<ReturnType<typeof refusalOf>, { kind: "secret" }> }} props */
function SecretForm({ refusal }) {
  const [secret, setSecret] = useState("");
  const [since] = useState(Date.now());
  const left = refusal.retryAfterMs === undefined ? 0 : Math.ceil((since + refusal.retryAfterMs - now.value) / 1000);
  const isLocked = left > 0;
  useEffect(() => document.getElementById("secret")?.focus(), [isLocked]);
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    const value = secret.trim();
    if (value !== "" && !isLocked) signIn(refusal.field === "token" ? { token: value } : { password: value });
  };
  const word = { token: texts.token, password: texts.password, secret: texts.tokenPassword }[refusal.field];
  return html`<section class="sign-in panel">
    <h1>${texts.signGateway}</h1>
    ${refusal.reason && html`<${Notice} level=${refusal.isFailure ? "bad" : "info"}><p role="alert">${refusal.reason}</p><//>`}
    <form onSubmit=${submit}>
      <label class="label" for="secret">${texts.gateway(word)}</label>
      <div class="row">
        <input id="secret" class="field" type="password" autocomplete="current-password" spellcheck=${false} value=${secret} readonly=${isLocked}
          aria-invalid=${refusal.isFailure ? "true" : undefined} onInput=${(/** @type {any} */ e) => setSecret(e.currentTarget.value)} />
        <${Button} type="submit" kind="primary" blocked=${isLocked ? texts.waitS(left) : undefined}>${isLocked ? texts.waitS(left) : texts.connect}<//>
      </div>
    </form>
    <p class="muted">${texts.machineGatewayPrints}</p>
    <${Command} command="svc dashboard" />
  </section>`;
}

/** @param {{ error: Error }} props */
function Unreachable({ error }) {
  return html`<section class="sign-in panel">
    <h1>${texts.gatewayDoesNot}</h1>
    <p class="muted">${error.message}</p>
    <p>${texts.pageKeepsTrying}</p>
    <${Command} command="svc gateway" />
    <div class="actions"><${Button} kind="primary" onClick=${tryNow}>${texts.tryNow}<//></div>
  </section>`;
}
