import { useState } from "preact/hooks";
import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { abilitiesOf, foundModels, marksOf, usageWords } from "../../core/model-facts.js";
import { noAdminReason, readOnlyReason } from "../../core/store.js";
import { Button } from "../../ui/button.js";
import { Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/model-facts.js").Model} Model */
/** @typedef {import("../../core/model-facts.js").UsageRow} UsageRow */

const PAGE = 20;
/** From so many on a field finds one. */
const MANY = 12;

/**
 * Models of one provider, with what each can.
 * @param {{ provider: string, models: Model[] | undefined, usage: UsageRow[] | undefined, onTest: (model: string) => void, onDefault: (model: string) => void }} props
 */
export function ModelList({ provider, models, usage, onTest, onDefault }) {
  const [text, setText] = useState("");
  const [shown, setShown] = useState(PAGE);
  if (!models) return html`<div class="detail"><${Waiting} rows=${3} label="Loading models" /></div>`;
  if (models.length === 0)
    return html`<div class="detail"><p class="muted">Its server lists no model, and the config names none.</p></div>`;
  const found = foundModels(models, text);
  const rows = found.slice(0, shown);
  return html`<div class="detail stack">
    ${
      models.length > MANY &&
      html`<input type="search" class="field" placeholder="Name of a model" aria-label=${`Search models of ${provider}`} maxlength="200" value=${text}
        onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} />`
    }
    <ul class="model-list" aria-label=${`Models of ${provider}`}>${rows.map(
      (model) =>
        html`<${ModelRow} key=${model.id} model=${model} used=${usageWords(usage, `${provider}/${model.id}`)} onTest=${onTest} onDefault=${onDefault} />`,
    )}</ul>
    ${found.length === 0 && html`<p class="muted">No model matches.</p>`}
    ${
      models.length > PAGE &&
      html`<p class="foot"><span class="muted small">${count(rows.length)} of ${count(found.length)}</span>
        ${shown < found.length && html`<${Button} kind="slim" label=${`Show more models of ${provider}`} onClick=${() => setShown(shown + PAGE)}>Show more<//>`}</p>`
    }
  </div>`;
}

/** @param {{ model: Model, used: string | undefined, onTest: (model: string) => void, onDefault: (model: string) => void }} props */
function ModelRow({ model, used, onTest, onDefault }) {
  const { id, name, tags = [] } = model;
  const abilities = [...abilitiesOf(model), ...(used === undefined ? [] : [used])];
  return html`<li>
    <span class="grow">
      <span class="line"><span class="wrap">${id}</span>${name !== id && html`<span class="muted small wrap">${name}</span>`}
        ${marksOf(model).map(({ word, level }) => html`<span key=${word} class=${`badge ${level}`}>${word}</span>`)}</span>
      ${abilities.length > 0 && html`<span class="facts muted small">${abilities.map((word) => html`<span key=${word}>${word}</span>`)}</span>`}
    </span>
    <span class="actions">
      <${Button} kind="slim" label=${`Test ${id}`} blocked=${readOnlyReason.value} onClick=${() => onTest(id)}>Test<//>
      ${!tags.includes("default") && html`<${Button} kind="slim" label=${`Make default: ${id}`} blocked=${noAdminReason.value} onClick=${() => onDefault(id)}>Make default<//>`}
    </span>
  </li>`;
}
