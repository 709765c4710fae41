import { reachOf, sentenceOf } from "../../core/device-facts.js";
import { devices, isHere, presence } from "../../core/devices.js";
import { base } from "../../core/env.js";
import { html } from "../../core/html.js";
import { texts } from "../../texts/devices.js";
import { Command } from "../../ui/button.js";
import { Later } from "../../ui/later.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { Connected } from "./connected.js";
import { Paired, Waiting } from "./known.js";

const events = ["device.pair.requested", "device.pair.resolved"];

const invite = () => import("./invite.js");

/** Page of the devices: who waits for approval, who is paired, who is connected, and how to bring another one in. */
export default function DevicesPage() {
  // Apart: each look at the paired devices is an entry of the audit log, and others connect often.
  useLive(devices.read, { events });
  useLive(presence.read, { events: ["presence"] });
  const known = devices.answer.value;
  const list = known && { ...known, paired: known.paired.map((device) => ({ ...device, connected: isHere(device) })) };
  const clients = presence.answer.value;
  return html`<div class="page lists devices">
    <${Head} title=${texts.devices} sentence=${list && sentenceOf(list)} readAt=${devices.readAt.value} />
    <${Standing} reading=${devices} onRetry=${devices.read} what=${texts.whatDevices} plugin="devices" />
    ${list && list.pending.length > 0 && html`<${Waiting} list=${list.pending} />`}
    ${list && list.paired.length > 0 && html`<${Paired} list=${list.paired} />`}
    <${Standing} reading=${presence} onRetry=${presence.read} what=${texts.connectedClients} rows=${2} />
    ${clients && html`<${Connected} presence=${clients} />`}
    <${Later} load=${invite} />
    <${HowTo} />
  </div>`;
}

function HowTo() {
  const reach = reachOf(location);
  return html`<section class="panel" aria-labelledby="how-to">
    <header><h2 id="how-to">${texts.pairPhoneAnother}</h2></header>
    <ol class="inside steps">
      <li>${reach === "yes" ? html`${texts.openAddress}<${Command} command=${location.origin + base} />` : html`<${Publish} reach=${reach} />`}</li>
      <li>${texts.signThereGateway}<${Command} command="svc dashboard --secret" /></li>
      <li>${texts.appearsPageUnder} <em>${texts.waitingYourApproval}</em>${texts.compareWhereComes}</li>
    </ol>
  </section>`;
}

/** @param {{ reach: "here-only" | "plain" }} props */
function Publish({ reach }) {
  const why = reach === "here-only" ? texts.pageOpenedAddress : texts.pageCameOver;
  return html`${texts.giveGatewayAddress(why)}
    <${Command} command="svc config set gateway.tailscale.mode serve" />
    <span class="muted small">${texts.thenOpenAddress} <code>svc gateway status</code> ${texts.showsOtherDevice}</span>`;
}
