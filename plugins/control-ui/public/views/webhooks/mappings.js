import { html } from "../../core/html.js";
import { callOf, doorWords, mappingWords } from "../../core/webhook-facts.js";
import { texts } from "../../texts/webhooks.js";
import { CopyButton } from "../../ui/button.js";

/** @typedef {import("../../core/webhook-facts.js").Hooks} Hooks */
/** @typedef {import("../../core/webhook-facts.js").Mapping} Mapping */

/** Rules in the order in which they are checked, the operator's own before those of presets. @param {{ list: Hooks }} props */
export function Mappings({ list }) {
  const { mappings, presets, path = "/hooks" } = list;
  const lost = presets.filter(({ isKnown }) => !isKnown);
  return html`<section class="panel" aria-labelledby="mappings">
    <header><h2 id="mappings">${texts.mappingsLabel}</h2>${mappings.length > 1 && html`<span class="muted small aside">${texts.firstMatchHandles}</span>`}</header>
    ${lost.map(({ id }) => html`<p key=${id} class="inside"><span class="badge warn">${texts.preset(id)}</span> ${texts.noPluginBrings}</p>`)}
    ${
      mappings.length === 0
        ? html`<p class="inside muted">${texts.noneOnly} <code>${path}/wake</code> ${texts.and} <code>${path}/agent</code> ${texts.answeredOthersSet}</p>`
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
        <span class="cut title" dir="auto">${path === undefined ? `${base}/…` : `${base}/${path}`}</span>
        ${preset !== undefined && html`<span class="badge">${texts.presetWord(preset)}</span>`}
        ${broken !== undefined && html`<span class="badge bad"><i class="dot bad"></i>${texts.doesNotWork}</span>`}
      </span>
      <span class="muted small wrap">${mappingWords(mapping)}</span>
      <span class="facts muted small"><span>${id}</span><span>${texts.opened(doorWords(verify))}</span></span>
      ${broken !== undefined && html`<span class="reason small">${broken}</span>`}
    </span>
    ${call && html`<${CopyButton} text=${call} label=${texts.copyCallOf(path)} hidesWord=${true} kind="quiet" />`}
  </li>`;
}
