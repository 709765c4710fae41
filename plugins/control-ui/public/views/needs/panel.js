import { useRef, useState } from "preact/hooks";
import { needsCount } from "../../core/facts.js";
import { clock, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { isNeedsOpen } from "../../core/keys.js";
import { isOnline, lastOnlineAt } from "../../core/store.js";
import { texts } from "../../texts/needs.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { currentNeeds } from "./list.js";
import { NeedRow, OutcomeRow } from "./row.js";

/** @typedef {{ title: string, text: string, at: number }} Outcome */
/** @typedef {import("./list.js").Need} Need */

/** Everything that waits for a person, from anywhere: each is answered here, and what came of it stands in its place until this is closed. */
export default function NeedsPanel() {
  const close = () => (isNeedsOpen.value = false);
  const [outcomes, setOutcomes] = useState(/** @type {Readonly<Record<string, Outcome>>} */ ({}));
  // Rows keep their places while somebody reads them.
  const order = useRef(/** @type {string[]} */ ([]));
  // The event of an answer may come before the answer itself.
  const underWay = useRef(/** @type {Map<string, Need>} */ (new Map()));
  const list = new Map([...underWay.current, ...currentNeeds().map((need) => /** @type {[string, Need]} */ ([need.id, need]))]);
  for (const id of list.keys()) if (!order.current.includes(id)) order.current.push(id);
  order.current = order.current.filter((id) => list.has(id) || outcomes[id] !== undefined);
  /** @param {Need} need */
  const begin = (need) => void underWay.current.set(need.id, need);
  /** @param {Need} need @param {string} text */
  const settle = ({ id, title }, text) => {
    underWay.current.delete(id);
    setOutcomes((known) => ({ ...known, [id]: { title, text, at: Date.now() } }));
  };
  /** @param {Need} need @param {string} reason */
  const fail = (need, reason) => {
    underWay.current.delete(need.id);
    // Somebody else was faster: there is no row any more that could say so.
    if (!currentNeeds().some(({ id }) => id === need.id)) settle(need, texts.yourAnswerCame(reason));
  };
  return html`<${Dialog} label=${texts.needsYou} kind="dialog needs-panel" onClose=${close}><div>
    <div class="needs-head">
      <h2 tabindex="-1" autofocus>${texts.needsYou}</h2>
      <p class="muted small" role="status">${sentence()}</p>
    </div>
    ${
      order.current.length === 0
        ? html`<p>${texts.nothingWaitsYou}</p>`
        : html`<ul class="needs-list">${order.current.map((id) => {
            const need = list.get(id);
            const done = outcomes[id];
            if (need)
              return html`<${NeedRow} key=${id} need=${need} outcome=${done && `${clock(done.at)}: ${done.text}`} onBegin=${begin} onSettled=${settle} onFailed=${fail} onLeave=${close} />`;
            return done && html`<${OutcomeRow} key=${id} title=${done.title} text=${done.text} />`;
          })}</ul>`
    }
    <div class="actions"><${Button} onClick=${close}>${texts.close}<//></div>
  </div><//>`;
}

function sentence() {
  if (!isOnline.value) return texts.notConnected(clock(lastOnlineAt.value));
  return needsCount.value === 0 ? texts.allAnswered : texts.thingsToLookAt(plural(needsCount.value, texts.things));
}
