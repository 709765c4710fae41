import { setEdit } from "../../core/config.js";
import { valueOfText } from "../../core/config-facts.js";
import { html } from "../../core/html.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config-more.js";
import { Button } from "../../ui/button.js";
import { Close, Plus } from "../../ui/icons.js";

/** @typedef {import("../../core/config-types.js").Control} Control */
/** @typedef {import("../../core/config-types.js").AnyKind} Kind */

/** A list of plain values, one field each. @param {Control} props */
export default function Rows({ id, node, kind, label, value, isBlocked, described, invalid }) {
  const item = /** @type {Kind} */ (kind.item);
  const list = Array.isArray(value) ? value : [];
  const set = (/** @type {unknown[]} */ next) => setEdit({ path: node.path, value: next });
  const choices = item.choices;
  /** @param {number} i @param {string} text */
  const change = (i, text) => set(list.with(i, choices ? choices[Number(text)] : valueOfText(item, text)));
  const add = () => set([...list, choices ? choices[0] : item.kind === "number" ? (item.min ?? 0) : ""]);
  return html`<div class="setting-rows" role="group" aria-label=${label}>
    ${list.map((one, i) => {
      const about = {
        "aria-label": texts.rowOf({ label, i: i + 1 }),
        "aria-describedby": described,
        "aria-invalid": invalid,
        class: "field",
      };
      return html`<div key=${i} class="line-row">
        ${
          choices
            ? html`<select ...${about} disabled=${isBlocked} onChange=${(/** @type {any} */ e) => change(i, e.currentTarget.value)}>${choices.map(
                (choice, n) => html`<option key=${n} value=${String(n)} selected=${choice === one}>${String(choice)}</option>`,
              )}</select>`
            : html`<input ...${about} type="text" autocomplete="off" spellcheck="false" readonly=${isBlocked} value=${String(one)}
                onInput=${(/** @type {any} */ e) => change(i, e.currentTarget.value)} />`
        }
        ${!isBlocked && html`<${Button} kind="quiet" icon=${Close} label=${texts.removeRow({ i: i + 1, label })} onClick=${() => set(list.toSpliced(i, 1))} />`}
      </div>`;
    })}
    <div><${Button} id=${id} kind="slim" icon=${Plus} label=${texts.addRowOf(label)} blocked=${noAdminReason.value} onClick=${add}>${texts.addRow}<//></div>
  </div>`;
}
