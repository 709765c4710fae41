import { html } from "../../core/html.js";
import { callOf, doorWords, mappingWords } from "../../core/webhook-facts.js";
import { CopyButton } from "../../ui/button.js";

/** @typedef {import("../../core/webhook-facts.js").Hooks} Hooks */
/** @typedef {import("../../core/webhook-facts.js").Mapping} Mapping */

/** Rules in the order in which they are checked, the operator's own before those of presets. @param {{ list: Hooks }} props */
export function Mappings({ list }) {
  const { mappings, presets, path = "/hooks" } = list;
  const lost = presets.filter(({ isKnown }) => !isKnown);
  return html`<section class="panel" aria-labelledby="mappings">
    <header><h2 id="mappings">Mappings</h2>${mappings.length > 1 && html`<span class="muted small aside">The first match handles the request.</span>`}</header>
    ${lost.map(({ id }) => html`<p key=${id} class="inside"><span class="badge warn">preset ${id}</span> No plugin brings it.</p>`)}
    ${
      mappings.length === 0
        ? html`<p class="inside muted">None. Only <code>${path}/wake</code> and <code>${path}/agent</code> are answered; others are set under hooks.mappings and hooks.presets.</p>`
        : html`<ul class="rows">${mappings.map((mapping, i) => html`<${Row} key=${`${i} ${mapping.id}`} mapping=${mapping} base=${path} />`)}</ul>`
    }
  </section>`;
}

/** @param {{ mapping: Mapping, base: string }} props */
function Row({ mapping, base }) {
  const { id, preset, path, verify, broken } = mapping;
  // A signature is not made in a shell.
  const call = path === undefined || verify ? undefined : callOf(`${location.origin}${base}`, path);
  return html`<li class="row-line">
    <span class="grow">
      <span class="top-line">
        <span class="cut title">${path === undefined ? `${base}/…` : `${base}/${path}`}</span>
        ${preset !== undefined && html`<span class="badge">preset ${preset}</span>`}
        ${broken !== undefined && html`<span class="badge bad"><i class="dot bad"></i>does not work</span>`}
      </span>
      <span class="muted small wrap">${mappingWords(mapping)}</span>
      <span class="facts muted small"><span>${id}</span><span>opened by ${doorWords(verify)}</span></span>
      ${broken !== undefined && html`<span class="reason small">${broken}</span>`}
    </span>
    ${call && html`<${CopyButton} text=${call} label=${`Copy call for ${path}`} hidesWord=${true} kind="quiet" />`}
  </li>`;
}
