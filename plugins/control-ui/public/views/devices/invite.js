import { useEffect, useRef, useState } from "preact/hooks";
import { onEvent } from "../../core/conn.js";
import { reachOf } from "../../core/device-facts.js";
import { base } from "../../core/env.js";
import { html } from "../../core/html.js";
import { endInvitation, hideInvitation, invitation, invite, outcome, settleInvitation } from "../../core/invite.js";
import { inviteAddress, inviteLink, noInviteReason, timeLeft } from "../../core/invite-facts.js";
import { hello, isOnline, noPairingReason, now } from "../../core/store.js";
import { texts } from "../../texts/devices.js";
import { Button, CopyButton } from "../../ui/button.js";
import { QrCode } from "../../ui/qr-code.js";
import { useRefocus } from "../../ui/refocus.js";
import { Notice } from "../../ui/states.js";

/** Signs a phone in by a code that it scans: no secret is typed, and nobody has to approve it afterwards. */
export default function Invite() {
  const [text, setText] = useState(location.origin + base);
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  useInvitation();
  const { address, problem } = inviteAddress(text);
  const reason = noInviteReason(hello.value?.snapshot.authMode);
  const shown = invitation.value;
  useRefocus(shown !== undefined, "show-code");
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy || noPairingReason.value) return;
    if (problem !== undefined) return setError(problem);
    setBusy(true);
    setError("");
    await invite().catch((failure) => setError(/** @type {Error} */ (failure).message));
    setBusy(false);
  };
  return html`<section class="panel invite" aria-labelledby="invite">
    <header><h2 id="invite">${texts.signPhone}</h2></header>
    <div class="inside stack">
      ${
        reason
          ? html`<p class="muted">${reason}</p>`
          : shown && address !== undefined
            ? html`<${Code} shown=${shown} link=${inviteLink(address, shown.token)} address=${address} />`
            : html`<${Outcome} />
              <p>${texts.phoneScansCode}</p>
              <form class="stack" onSubmit=${submit}>
                <label><span class="label">${texts.addressWhichPhone}</span>
                  <input class="field" type="url" inputmode="url" autocomplete="off" spellcheck=${false} value=${text} aria-invalid=${error ? "true" : undefined}
                    onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} /></label>
                ${reachOf(location) !== "yes" && html`<p class="muted small">${texts.pageSOwn}</p>`}
                ${error && html`<p class="reason bad" role="alert">${error}</p>`}
                <div class="actions"><${Button} id="show-code" type="submit" kind="primary" blocked=${noPairingReason.value}>${isBusy ? texts.makingCode : texts.showQrCode}<//></div>
              </form>`
      }
    </div>
  </section>`;
}

/** Keeps to what the gateway says of the code: used, run out, or gone with the connection. */
function useInvitation() {
  useEffect(() => {
    const end = onEvent("device.pair.resolved", (event) => void settleInvitation(event));
    return () => {
      end();
      void hideInvitation();
    };
  }, []);
  const isGone = invitation.value !== undefined && (!isOnline.value || hello.value?.server.connId !== invitation.value.connId);
  useEffect(() => {
    if (isGone) endInvitation({ level: "warn", text: texts.connectionLostCode });
  }, [isGone]);
  const isOver = invitation.value !== undefined && invitation.value.expiresAtMs <= now.value;
  useEffect(() => {
    if (isOver) endInvitation({ level: "warn", text: texts.codeRunOut });
  }, [isOver]);
}

/** @param {{ shown: import("../../core/invite.js").Invitation, link: string, address: string }} props */
function Code({ shown, link, address }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), [shown.requestId]);
  return html`<div class="scan">
    <${QrCode} text=${link} label=${texts.qrCodeSigns} />
    <div class="stack">
      <p ref=${heading} tabindex="-1"><strong>${texts.scanCameraPhone}</strong> ${texts.opens} <span class="wrap">${address}</span> ${texts.signedThere}</p>
      <p>${texts.goodOnce} <span role="timer" aria-live="off">${timeLeft(shown.expiresAtMs - now.value)}</span> ${texts.left}</p>
      <div class="actions">
        <${Button} onClick=${hideInvitation}>${texts.hideCode}<//>
        <${CopyButton} text=${link} label=${texts.copyLink} kind="quiet" />
      </div>
      <p class="muted small">${texts.linkDoesSame}</p>
    </div>
  </div>`;
}

function Outcome() {
  return html`<div role="status">${
    outcome.value && html`<${Notice} level=${outcome.value.level === "ok" ? "info" : "warn"}>${outcome.value.text}<//>`
  }</div>`;
}
