import { useState } from "preact/hooks";
import { moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress } from "../../core/router.js";
import { isOnline, readOnlyReason } from "../../core/store.js";
import { actOf, stepsOf } from "../../core/webhook-facts.js";
import { changeDelivery, readText } from "../../core/webhooks.js";
import { announce } from "../../ui/announce.js";
import { Button, CopyButton } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Failure } from "../../ui/states.js";

/** @typedef {import("../../core/webhook-facts.js").Delivery} Delivery */

/** Everything of one delivery, and what can be done with it. @param {{ delivery: Delivery }} props */
export function Detail({ delivery }) {
  const { uid, mapping, lane, kind, attempt, createdAt, updatedAt, state } = delivery;
  const act = actOf(delivery);
  const facts = [
    ["Id", uid],
    ...(mapping === undefined ? [] : [["Mapping", mapping]]),
    ["Accepted", moment(createdAt)],
    ["Changed", moment(updatedAt)],
    ...(attempt === 0 ? [] : [["Tries", String(attempt)]]),
    ...stepsOf(delivery).map(({ name, text }) => [name, text]),
  ];
  return html`<div class="detail stack">
    <dl class="facts-table small">${facts.map(([name, text]) => html`<div key=${name}><dt class="muted">${name}</dt><dd>${text}</dd></div>`)}</dl>
    <div class="actions">
      ${act === "retry" && html`<${Button} kind="slim" blocked=${readOnlyReason.value} onClick=${() => retry(delivery)}>Retry<//>`}
      ${act === "drop" && html`<${Button} kind="slim danger" blocked=${readOnlyReason.value} onClick=${() => drop(delivery)}>Drop<//>`}
      ${(attempt > 0 || kind === "wake") && html`<a class="button slim" href=${chatAddress(lane)}>Open session</a>`}
      <${CopyButton} text=${uid} label="Copy id" />
    </div>
    ${kind === "agent" && state !== "done" && html`<${Text} uid=${uid} />`}
  </div>`;
}

/** The text came from outside: it is read only when somebody wants to. @param {{ uid: string }} props */
function Text({ uid }) {
  const [shown, setShown] = useState(
    /** @type {{ text?: string | undefined, error?: unknown, isBusy?: boolean } | undefined} */ (undefined),
  );
  const read = async () => {
    if (shown?.isBusy) return;
    setShown({ isBusy: true });
    try {
      setShown({ text: (await readText(uid)) ?? "It is not kept any more." });
    } catch (error) {
      setShown({ error });
    }
  };
  if (shown?.error) return html`<${Failure} what="The text could not be read." error=${shown.error} onRetry=${read} />`;
  if (shown?.text !== undefined) return html`<pre class="mono payload" tabindex="0" aria-label="Text of the delivery">${shown.text}</pre>`;
  return html`<div><${Button} kind="slim" blocked=${isOnline.value ? undefined : "Not connected to the gateway"} onClick=${read}>${
    shown?.isBusy ? "Reading…" : "Show text"
  }<//></div>`;
}

/** @param {Delivery} delivery */
function nameOf({ name, path }) {
  return name ?? path;
}

/** @param {Delivery} delivery */
function retry(delivery) {
  ask({
    title: `Retry “${nameOf(delivery)}”?`,
    text: "It gets a fresh set of attempts and another 24 hours. Work that its agent has already done is not undone and may happen twice.",
    action: "Retry",
    run: async () => {
      await changeDelivery(delivery.uid, "retry");
      announce(`“${nameOf(delivery)}” is in the queue again`);
    },
  });
}

/** @param {Delivery} delivery */
function drop(delivery) {
  ask({
    title: `Drop “${nameOf(delivery)}”?`,
    text: "It is marked as failed, and a note in the main session says so. You can retry it for 7 days.",
    action: "Drop",
    isDanger: true,
    run: async () => {
      await changeDelivery(delivery.uid, "drop");
      announce(`“${nameOf(delivery)}” was dropped`);
    },
  });
}
