import { html } from "../../core/html.js";
import { isOnline } from "../../core/store.js";
import { texts } from "../../texts/panels.js";
import { Button } from "../../ui/button.js";
import { Markdown } from "../../ui/md.js";
import { PanelForm, useCall } from "./form.js";
import { OutcomeOf } from "./outcome.js";

/** @typedef {import("../../core/panel-facts.js").Block} Block */
/** @typedef {import("./form.js").CallMethod} CallMethod */

/** Blocks of a data panel; every text of them is a text. @param {{ blocks: readonly Block[], call: CallMethod, top: number }} props `top`: level of headings in Markdown */
export default function Blocks({ blocks, call, top }) {
  if (blocks.length === 0) return html`<p class="muted">${texts.nothing}</p>`;
  return blocks.map((block, i) => html`<${BlockOf} key=${`${i}:${block.kind}`} block=${block} call=${call} top=${top} />`);
}

/** @param {{ block: Block, call: CallMethod, top: number }} props */
function BlockOf({ block, call, top }) {
  switch (block.kind) {
    case "status":
      return html`<${Status} block=${block} />`;
    case "keyValue":
      return html`<dl class="facts-table">${block.rows.map(
        ({ key, value }, i) => html`<dt key=${`k${i}`} class="muted wrap">${key}</dt><dd key=${`v${i}`}>${value}</dd>`,
      )}</dl>`;
    case "table":
      return html`<${Table} columns=${block.columns} rows=${block.rows} />`;
    case "markdown":
      return html`<${Markdown} text=${block.text} top=${top} />`;
    case "form":
      return html`<${PanelForm} block=${block} call=${call} />`;
    case "command":
      return html`<${Command} block=${block} call=${call} />`;
  }
}

const levels = { ok: "ok", warning: "warn", error: "bad" };
const words = { ok: texts.works, warning: texts.warning, error: texts.error };

/** @param {{ block: import("../../core/panel-facts.js").StatusBlock }} props */
function Status({ block: { label, value, level } }) {
  return html`<p class="panel-status"><i class=${`dot ${level ? levels[level] : ""}`}></i>
    <strong class="wrap">${label}</strong>${level && html`<span class="sr-only">${words[level]}</span>`}<span class="wrap">${value}</span></p>`;
}

/** @param {{ columns: string[], rows: string[][] }} props */
function Table({ columns, rows }) {
  return html`<div class="panel-table" tabindex="0" role="region" aria-label=${texts.table}><table>
    <thead><tr>${columns.map((column, i) => html`<th key=${i} scope="col">${column}</th>`)}</tr></thead>
    <tbody>${rows.map((row, r) => html`<tr key=${r}>${row.map((cell, i) => html`<td key=${i}>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {{ block: import("../../core/panel-facts.js").CommandBlock, call: CallMethod }} props */
function Command({ block: { label, method, params = {} }, call }) {
  const { outcome, isBusy, run } = useCall(call);
  return html`<div class="stack tight">
    <div class="line"><${Button} kind="panel-command" blocked=${isOnline.value ? undefined : texts.offline} onClick=${() => run(method, params)}>
      <span class="wrap">${isBusy ? texts.working : label}</span><//></div>
    <${OutcomeOf} outcome=${outcome} />
  </div>`;
}
