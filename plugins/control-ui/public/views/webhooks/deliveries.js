import { useRef, useState } from "preact/hooks";
import { age, moment, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { isOnline, now } from "../../core/store.js";
import { countWords, filters, nextWords, reasonOf, stateOf } from "../../core/webhook-facts.js";
import { deliveries, MOST, PAGE } from "../../core/webhooks.js";
import { texts } from "../../texts/webhooks.js";
import { Button } from "../../ui/button.js";
import { Open } from "../../ui/icons.js";
import { Waiting } from "../../ui/states.js";
import { Detail } from "./detail.js";

/** @typedef {import("../../core/webhook-facts.js").Hooks} Hooks */
/** @typedef {import("../../core/webhook-facts.js").Delivery} Delivery */
/** @typedef {import("../../core/webhooks.js").Filter} Filter */

const words = { all: texts.all, waiting: texts.waitingLabel, done: texts.doneLabel, failed: texts.failedLabel };
const names = /** @type {Filter[]} */ (Object.keys(filters));

/** Lists accepted deliveries, newest first. @param {{ list: Hooks, filter: Filter, limit: number, onShow: (change: { f?: string, n?: number }) => void }} props */
export function Deliveries({ list, filter, limit, onShow }) {
  const known = deliveries.value;
  const rows = useCalmRows(known && known.filter === filter ? known.rows : []);
  const isReading = !known || known.filter !== filter;
  return html`<section class="panel" aria-labelledby="deliveries">
    <header>
      <h2 id="deliveries">${texts.lastDeliveries}</h2>
      <div class="choice" role="group" aria-label=${texts.show}>${names.map(
        (name) =>
          html`<button key=${name} type="button" aria-pressed=${name === filter} onClick=${() => onShow({ f: name })}>${words[name]}</button>`,
      )}</div>
    </header>
    <p class="inside muted small">${countWords(list.counts)}</p>
    ${isReading && html`<div class="inside"><${Waiting} rows=${3} /></div>`}
    ${!isReading && rows.list.length === 0 && html`<p class="inside">${nothingWords(filter, list.enabled)}</p>`}
    ${
      rows.list.length > 0 &&
      html`<ul class="rows" onPointerEnter=${rows.hold} onPointerLeave=${rows.release}>${rows.list.map(
        (row) => html`<${Row} key=${row.uid} delivery=${row} />`,
      )}</ul>`
    }
  </section>
  <div class="foot">
    <span class="muted small">${rows.list.length > 0 ? plural(rows.list.length, texts.last) : ""}</span>
    ${
      rows.list.length >= limit &&
      limit < MOST &&
      html`<${Button} blocked=${isOnline.value ? undefined : texts.notConnected} onClick=${() => onShow({ n: Math.min(MOST, limit + PAGE) })}>${texts.showMore}<//>`
    }
  </div>`;
}

/** @param {Filter} filter @param {boolean} isEnabled */
function nothingWords(filter, isEnabled) {
  if (filter !== "all") return texts.noDelivery(filter);
  return isEnabled ? texts.nothingComeYet : texts.nothingCome;
}

/**
 * Rows keep their places while the pointer is over them; new ones join when it leaves.
 * @param {Delivery[]} fresh
 */
function useCalmRows(fresh) {
  const held = useRef(/** @type {Delivery[] | undefined} */ (undefined));
  const [, redraw] = useState(0);
  if (held.current && fresh.length === 0) held.current = undefined;
  const list = held.current ? held.current.map((old) => fresh.find((row) => row.uid === old.uid) ?? old) : fresh;
  return {
    list,
    hold: () => (held.current = list),
    release: () => {
      held.current = undefined;
      redraw((n) => n + 1);
    },
  };
}

/** @param {{ delivery: Delivery }} props */
function Row({ delivery }) {
  const [isOpen, setOpen] = useState(false);
  const { uid, path, name, agentId, kind, attempt, createdAt } = delivery;
  const { word, level } = stateOf(delivery);
  const reason = reasonOf(delivery);
  const next = nextWords(delivery, now.value);
  return html`<li class="delivery">
    <button type="button" class="row-line" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      <${Open} />
      <span class="grow">
        <span class="top-line"><span class="cut title" dir="auto">${name && kind === "agent" ? `${name}` : path}</span>
          <span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
        <span class="facts muted small"><span>${path}</span><span>${agentId}</span>${attempt > 1 ? html`<span>${texts.tries(attempt)}</span>` : null}
          ${next && html`<span>${next}</span>`}<time title=${moment(createdAt)}>${age(createdAt, now.value)}</time></span>
        ${reason && level !== "ok" && html`<span class="reason small wrap">${reason}</span>`}
      </span>
    </button>
    ${isOpen && html`<${Detail} key=${uid} delivery=${delivery} />`}
  </li>`;
}
