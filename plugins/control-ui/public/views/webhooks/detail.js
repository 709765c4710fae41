import { useState } from "preact/hooks";
import { moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { chatAddress } from "../../core/router.js";
import { isOnline, readOnlyReason } from "../../core/store.js";
import { actOf, stepsOf } from "../../core/webhook-facts.js";
import { changeDelivery, readText } from "../../core/webhooks.js";
import { texts } from "../../texts/webhooks.js";
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
    [texts.id, uid],
    ...(mapping === undefined ? [] : [[texts.mapping, mapping]]),
    [texts.acceptedLabel, moment(createdAt)],
    [texts.changed, moment(updatedAt)],
    ...(attempt === 0 ? [] : [[texts.triesLabel, String(attempt)]]),
    ...stepsOf(delivery).map(({ name, text }) => [name, text]),
  ];
  return html`<div class="detail stack">
    <dl class="facts-table small">${facts.map(([name, text]) => html`<div key=${name}><dt class="muted">${name}</dt><dd>${text}</dd></div>`)}</dl>
    <div class="actions">
      ${act === "retry" && html`<${Button} kind="slim" blocked=${readOnlyReason.value} onClick=${() => retry(delivery)}>${texts.retry}<//>`}
      ${act === "drop" && html`<${Button} kind="slim danger" blocked=${readOnlyReason.value} onClick=${() => drop(delivery)}>${texts.drop}<//>`}
      ${(attempt > 0 || kind === "wake") && html`<a class="button slim" href=${chatAddress(lane)}>${texts.openSession}</a>`}
      <${CopyButton} text=${uid} label=${texts.copyId} />
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
      setShown({ text: (await readText(uid)) ?? texts.notKeptAny });
    } catch (error) {
      setShown({ error });
    }
  };
  if (shown?.error) return html`<${Failure} what=${texts.textCouldNot} error=${shown.error} onRetry=${read} />`;
  if (shown?.text !== undefined) return html`<pre class="mono payload" tabindex="0" aria-label=${texts.textDelivery}>${shown.text}</pre>`;
  return html`<div><${Button} kind="slim" blocked=${isOnline.value ? undefined : texts.notConnectedGateway} onClick=${read}>${
    shown?.isBusy ? texts.reading : texts.showText
  }<//></div>`;
}

/** @param {Delivery} delivery */
function nameOf({ name, path }) {
  return name ?? path;
}

/** @param {Delivery} delivery */
function retry(delivery) {
  ask({
    title: texts.retryOf(nameOf(delivery)),
    text: texts.getsFreshSet,
    action: texts.retry,
    run: async () => {
      await changeDelivery(delivery.uid, "retry");
      announce(texts.queueAgain(nameOf(delivery)));
    },
  });
}

/** @param {Delivery} delivery */
function drop(delivery) {
  ask({
    title: texts.dropOf(nameOf(delivery)),
    text: texts.markedFailedNote,
    action: texts.drop,
    isDanger: true,
    run: async () => {
      await changeDelivery(delivery.uid, "drop");
      announce(texts.dropped(nameOf(delivery)));
    },
  });
}
