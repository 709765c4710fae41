import { clientFacts, clientName, clientsIn, scopeWords } from "../../core/device-facts.js";
import { isThisPage } from "../../core/devices.js";
import { html } from "../../core/html.js";
import { texts } from "../../texts/devices.js";

/** @typedef {import("../../core/device-facts.js").Presence} Presence */

/** Clients with a connection of their own; commands that ask one question leave no row. @param {{ presence: Presence[] }} props */
export function Connected({ presence }) {
  const clients = clientsIn(presence);
  return html`<section class="panel" aria-labelledby="connected">
    <header><h2 id="connected">${texts.connectedNow}</h2></header>
    ${clients.length === 0 && html`<p class="inside muted">${texts.nobodyConnected}</p>`}
    <ul class="rows">${clients.map((client, i) => html`<${Row} key=${i} client=${client} />`)}</ul>
  </section>`;
}

/** @param {{ client: Presence }} props */
function Row({ client }) {
  return html`<li class="row-line"><span class="grow">
    <span class="top-line"><span class="cut title" dir="auto">${clientName(client)}</span>${isThisPage(client) && html`<span class="badge info">${texts.browser}</span>`}</span>
    <span class="facts muted small">${clientFacts(client).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}
      ${client.scopes && html`<span>${texts.mayDo(scopeWords(client.scopes))}</span>`}</span>
  </span></li>`;
}
