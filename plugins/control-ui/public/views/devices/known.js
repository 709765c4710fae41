import { useState } from "preact/hooks";
import { hasToken, inOrder, nameOf, pairedFacts, pendingFacts, scopeWords, stateOf } from "../../core/device-facts.js";
import { decide, ownDeviceId, removeDevice, renameDevice, signOutDevice } from "../../core/devices.js";
import { html } from "../../core/html.js";
import { noPairingReason, now } from "../../core/store.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";

/** @typedef {import("../../core/device-facts.js").PendingDevice} PendingDevice */
/** @typedef {import("../../core/device-facts.js").PairedDevice} PairedDevice */

/** Devices that wait for somebody to approve them. @param {{ list: PendingDevice[] }} props */
export function Waiting({ list }) {
  return html`<section class="panel" aria-labelledby="waiting">
    <header><h2 id="waiting">Waiting for your approval</h2></header>
    <ul class="rows">${list.map((device) => html`<${WaitingRow} key=${device.requestId} device=${device} />`)}</ul>
  </section>`;
}

/** Devices that may connect with a key of their own. @param {{ list: PairedDevice[] }} props */
export function Paired({ list }) {
  return html`<section class="panel" aria-labelledby="paired">
    <header><h2 id="paired">Paired</h2></header>
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
      announce(word === "approve" ? `${name} may connect now.` : `${name} was rejected.`);
    } catch (failure) {
      setError(/** @type {Error} */ (failure).message);
    }
    setBusy("");
  };
  return html`<li class="row-line">
    <span class="grow">
      <span class="top-line"><span class="cut title">${name}</span><span class="badge warn"><i class="dot warn"></i>waits</span></span>
      <span class="wrap">Asks to do: <strong>${scopeWords(device.scopes)}</strong></span>
      <span class="facts muted small">${pendingFacts(device, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
      ${error && html`<span class="reason small" role="alert">${error}</span>`}
    </span>
    <span class="actions">
      <${Button} kind="slim primary" label=${`Approve ${name}`} blocked=${noPairingReason.value} onClick=${() => answer("approve")}>${busy === "approve" ? "Approving…" : "Approve"}<//>
      <${Button} kind="slim" label=${`Reject ${name}`} blocked=${noPairingReason.value} onClick=${() => answer("reject")}>${busy === "reject" ? "Rejecting…" : "Reject"}<//>
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
      <span class="top-line"><span class="cut title">${name}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span>
        ${isOwn && html`<span class="badge info">this browser</span>`}</span>
      <span class="facts muted small">${pairedFacts(device, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}
        <span>may do ${scopeWords(device.scopes)}</span></span>
    </span>
    <span class="actions">
      <${Button} kind="slim" label=${`Rename ${name}`} blocked=${blocked} onClick=${() => rename(device)}>Rename<//>
      ${hasToken(device) && html`<${Button} kind="slim" label=${`Sign out ${name}`} blocked=${blocked} onClick=${() => signOut(device)}>Sign out<//>`}
      <${Button} kind="slim danger" label=${`Remove ${name}`} blocked=${blocked} onClick=${() => remove(device, isOwn)}>Remove<//>
    </span>
  </li>`;
}

/** @param {PairedDevice} device */
function rename(device) {
  ask({
    title: `Rename ${nameOf(device)}`,
    action: "Rename",
    field: { label: "Name", value: nameOf(device), maxLength: 64 },
    run: async (value) => {
      const label = value.trim();
      if (label === "") throw new Error("A name has at least one character.");
      await renameDevice(device.deviceId, label);
    },
  });
}

/** @param {PairedDevice} device */
function signOut(device) {
  ask({
    title: `Sign ${nameOf(device)} out?`,
    text: "Its connections end now. It stays paired, and comes back once somebody signs in on it with the gateway's secret.",
    action: "Sign out",
    isDanger: true,
    run: async () => {
      await signOutDevice(device);
      announce(`${nameOf(device)} is signed out.`);
    },
  });
}

/** @param {PairedDevice} device @param {boolean} isOwn */
function remove(device, isOwn) {
  const name = nameOf(device);
  ask({
    title: `Remove ${name}?`,
    text: `Its connections end now, and the gateway forgets it: to come back it needs the secret and an approval.${isOwn ? " This is the browser you are using." : ""}`,
    action: "Remove",
    isDanger: true,
    ...(isOwn ? { field: { label: `Type ${name} to continue`, value: "", maxLength: 128 } } : {}),
    run: async (value) => {
      if (isOwn && value.trim() !== name) throw new Error(`That is not “${name}”. Nothing was removed.`);
      await removeDevice(device.deviceId);
      announce(`${name} was removed.`);
    },
  });
}
