import { useEffect, useState } from "preact/hooks";
import { signInAccount } from "../../core/channel-setup.js";
import { html } from "../../core/html.js";
import { timeLeft } from "../../core/invite-facts.js";
import { now } from "../../core/store.js";
import { texts } from "../../texts/channels.js";
import { Button, CopyButton } from "../../ui/button.js";
import { QrCode } from "../../ui/qr-code.js";
import { Notice, Waiting } from "../../ui/states.js";

/**
 * @typedef {import("../../core/channel-setup.js").Step} Step
 * @typedef {{ step?: Step, untilMs?: number, done?: string, failed?: string }} Course
 */

/** Signs an account in on its platform: shows each step that the channel gives, and how it ended. @param {{ channel: string, accountId: string, title: string, onClose: () => void }} props */
export default function Login({ channel, accountId, title, onClose }) {
  const [turn, setTurn] = useState(0);
  const course = useLogin({ channel, accountId }, turn);
  const { step, untilMs, done, failed } = course;
  const isOver = done !== undefined || failed !== undefined;
  return html`<section class="below stack" aria-label=${texts.signOf(title)}>
    ${!isOver && !step && html`<${Waiting} rows=${2} label=${texts.waitingChannel} />`}
    ${!isOver && step && html`<${StepView} step=${step} title=${title} />`}
    ${!isOver && untilMs !== undefined && html`<p class="muted small">${texts.endsItself} <span role="timer" aria-live="off">${timeLeft(untilMs - now.value)}</span>${texts.whenPageLoses}</p>`}
    <div role="status">${done !== undefined && html`<${Notice}>${done}<//>`}</div>
    ${failed !== undefined && html`<p class="reason bad wrap" role="alert">${failed}</p>`}
    <div class="actions">
      ${failed !== undefined && html`<${Button} kind="primary" onClick=${() => setTurn(turn + 1)}>${texts.beginAgain}<//>`}
      <${Button} onClick=${onClose}>${isOver ? texts.close : texts.hide}<//>
    </div>
  </section>`;
}

/** @param {{ channel: string, accountId: string }} account @param {number} turn @returns {Course} */
function useLogin({ channel, accountId }, turn) {
  const [course, setCourse] = useState(/** @type {Course} */ ({}));
  useEffect(() => {
    const leaving = new AbortController();
    /** @param {Course} more */
    const add = (more) => !leaving.signal.aborted && setCourse((known) => ({ ...known, ...more }));
    setCourse({});
    signInAccount(
      { channel, accountId },
      { onStep: (step) => add({ step }), onBegun: (timeoutMs) => add({ untilMs: now.peek() + timeoutMs }), signal: leaving.signal },
    ).then(
      ({ identity, note, started }) => add({ done: endWords({ identity, note, started }) }),
      (error) => add({ failed: /** @type {Error} */ (error).message }),
    );
    return () => leaving.abort();
  }, [channel, accountId, turn]);
  return course;
}

/** @param {{ identity?: string | undefined, note?: string | undefined, started: boolean }} end */
function endWords({ identity, note, started }) {
  return [texts.signed(identity === undefined ? "" : texts.signedInAs(identity)), note, started ? texts.accountStarting : undefined]
    .filter(Boolean)
    .join(" ");
}

/** @param {{ step: Step, title: string }} props */
function StepView({ step, title }) {
  if (step.kind === "qr") {
    return html`<div class="scan">
      <${QrCode} text=${step.text} label=${texts.qrCodeSigns(title)} />
      <div class="stack"><p><strong>${texts.scanAppPlatform}</strong> ${texts.newerCodeTakes}</p>
        <p class="muted small">${texts.whoeverScansTakes}</p></div>
    </div>`;
  }
  if (step.kind === "url") {
    const isWeb = /^https?:\/\//.test(step.url);
    return html`<p>${texts.openAddressFollow}</p>
      <p class="line"><a class="wrap" href=${isWeb ? step.url : undefined} target="_blank" rel="noopener noreferrer">${step.url}</a>
        <${CopyButton} text=${step.url} label=${texts.copyAddress} /></p>`;
  }
  return html`<p>${texts.enterCodePlatform}</p>
    <p class="line"><code class="login-code">${step.code}</code> <${CopyButton} text=${step.code} label=${texts.copyCode} /></p>`;
}
