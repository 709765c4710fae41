import { useState } from "preact/hooks";
import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { abilitiesOf, foundModels, marksOf, usageWords } from "../../core/model-facts.js";
import { noAdminReason, readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/models.js";
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
  if (!models) return html`<div class="detail"><${Waiting} rows=${3} label=${texts.loadingModels} /></div>`;
  if (models.length === 0) return html`<div class="detail"><p class="muted">${texts.serverListsNo}</p></div>`;
  const found = foundModels(models, text);
  const rows = found.slice(0, shown);
  return html`<div class="detail stack">
    ${
      models.length > MANY &&
      html`<input type="search" class="field" placeholder=${texts.nameModel} aria-label=${texts.searchModels(provider)} maxlength="200" value=${text}
        onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} />`
    }
    <ul class="model-list" aria-label=${texts.modelsOf(provider)}>${rows.map(
      (model) =>
        html`<${ModelRow} key=${model.id} model=${model} used=${usageWords(usage, `${provider}/${model.id}`)} onTest=${onTest} onDefault=${onDefault} />`,
    )}</ul>
    ${found.length === 0 && html`<p class="muted">${texts.noModelMatches}</p>`}
    ${
      models.length > PAGE &&
      html`<p class="foot"><span class="muted small">${texts.someOf({ rows: count(rows.length), found: count(found.length) })}</span>
        ${shown < found.length && html`<${Button} kind="slim" label=${texts.showMoreModels(provider)} onClick=${() => setShown(shown + PAGE)}>${texts.showMore}<//>`}</p>`
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
      <${Button} kind="slim" label=${texts.testOf(id)} blocked=${readOnlyReason.value} onClick=${() => onTest(id)}>${texts.test}<//>
      ${!tags.includes("default") && html`<${Button} kind="slim" label=${texts.makeDefaultOf(id)} blocked=${noAdminReason.value} onClick=${() => onDefault(id)}>${texts.makeDefault}<//>`}
    </span>
  </li>`;
}
