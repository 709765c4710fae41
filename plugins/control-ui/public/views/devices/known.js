import { useState } from "preact/hooks";
import { hasToken, inOrder, nameOf, pairedFacts, pendingFacts, scopeWords, stateOf } from "../../core/device-facts.js";
import { decide, ownDeviceId, removeDevice, renameDevice, signOutDevice } from "../../core/devices.js";
import { html } from "../../core/html.js";
import { noPairingReason, now } from "../../core/store.js";
import { texts } from "../../texts/devices.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";

/** @typedef {import("../../core/device-facts.js").PendingDevice} PendingDevice */
/** @typedef {import("../../core/device-facts.js").PairedDevice} PairedDevice */

/** Devices that wait for somebody to approve them. @param {{ list: PendingDevice[] }} props */
export function Waiting({ list }) {
  return html`<section class="panel" aria-labelledby="waiting">
    <header><h2 id="waiting">${texts.waitingYourApproval}</h2></header>
    <ul class="rows">${list.map((device) => html`<${WaitingRow} key=${device.requestId} device=${device} />`)}</ul>
  </section>`;
}

/** Devices that may connect with a key of their own. @param {{ list: PairedDevice[] }} props */
export function Paired({ list }) {
  return html`<section class="panel" aria-labelledby="paired">
    <header><h2 id="paired">${texts.paired}</h2></header>
    <ul class="rows">${inOrder(list).map((device) => html`<${PairedRow} key=${device.deviceId} device=${device} />`)}</ul>
  </section>`;
}

/** @param {{ device: PendingDevice }} props */
function WaitingRow({ device }) {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState("");
  const name = nameOf(device);
  /** @param {"approve" | "reject"} word */
  const answer = async (word) => {
    if (busy) return;
    setBusy(word);
    setError("");
    try {
      await decide(word, device.requestId);
      announce(word === "approve" ? texts.mayConnectNow(name) : texts.rejected(name));
    } catch (failure) {
      setError(/** @type {Error} */ (failure).message);
    }
    setBusy("");
  };
  return html`<li class="row-line">
    <span class="grow">
      <span class="top-line"><span class="cut title" dir="auto">${name}</span><span class="badge warn"><i class="dot warn"></i>${texts.waits}</span></span>
      <span class="wrap">${texts.asksDo} <strong>${scopeWords(device.scopes)}</strong></span>
      <span class="facts muted small">${pendingFacts(device, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
      ${error && html`<span class="reason small" role="alert">${error}</span>`}
    </span>
    <span class="actions">
      <${Button} kind="slim primary" label=${texts.approve(name)} blocked=${noPairingReason.value} onClick=${() => answer("approve")}>${busy === "approve" ? texts.approving : texts.approveLabel}<//>
      <${Button} kind="slim" label=${texts.reject(name)} blocked=${noPairingReason.value} onClick=${() => answer("reject")}>${busy === "reject" ? texts.rejecting : texts.rejectLabel}<//>
    </span>
  </li>`;
}

/** @param {{ device: PairedDevice }} props */
function PairedRow({ device }) {
  const name = nameOf(device);
  const { word, level } = stateOf(device);
  const isOwn = device.deviceId === ownDeviceId();
  const blocked = noPairingReason.value;
  return html`<li class="row-line">
    <span class="grow">
      <span class="top-line"><span class="cut title" dir="auto">${name}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span>
        ${isOwn && html`<span class="badge info">${texts.browser}</span>`}</span>
      <span class="facts muted small">${pairedFacts(device, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}
        <span>${texts.mayDo(scopeWords(device.scopes))}</span></span>
    </span>
    <span class="actions">
      <${Button} kind="slim" label=${texts.renameOf(name)} blocked=${blocked} onClick=${() => rename(device)}>${texts.rename}<//>
      ${hasToken(device) && html`<${Button} kind="slim" label=${texts.signOutOf(name)} blocked=${blocked} onClick=${() => signOut(device)}>${texts.signOut}<//>`}
      <${Button} kind="slim danger" label=${texts.removeOf(name)} blocked=${blocked} onClick=${() => remove(device, isOwn)}>${texts.remove}<//>
    </span>
  </li>`;
}

/** @param {PairedDevice} device */
function rename(device) {
  ask({
    title: texts.renameOf(nameOf(device)),
    action: texts.rename,
    field: { label: texts.name, value: nameOf(device), maxLength: 64 },
    run: async (value) => {
      const label = value.trim();
      if (label === "") throw new Error(texts.nameLeastOne);
      await renameDevice(device.deviceId, label);
    },
  });
}

/** @param {PairedDevice} device */
function signOut(device) {
  ask({
    title: texts.signOutQuestion(nameOf(device)),
    text: texts.connectionsEndNow,
    action: texts.signOut,
    isDanger: true,
    run: async () => {
      await signOutDevice(device);
      announce(texts.signedOut(nameOf(device)));
    },
  });
}

/** @param {PairedDevice} device @param {boolean} isOwn */
function remove(device, isOwn) {
  const name = nameOf(device);
  ask({
    title: texts.removeQuestion(name),
    text: texts.connectionsEndNowGateway(isOwn ? texts.browserYouUsing : ""),
    action: texts.remove,
    isDanger: true,
    ...(isOwn ? { field: { label: texts.typeContinue(name), value: "", maxLength: 128 } } : {}),
    run: async (value) => {
      if (isOwn && value.trim() !== name) throw new Error(texts.notNothingRemoved(name));
      await removeDevice(device.deviceId);
      announce(texts.removed(name));
    },
  });
}
