import { setEdit } from "../../core/config.js";
import { valueWords } from "../../core/config-facts.js";
import { html } from "../../core/html.js";
import { texts } from "../../texts/config.js";

/** One of several values. @param {import("../../core/config-types.js").Control} props */
export default function Select({ id, node, kind, value, isBlocked, described, invalid }) {
  const choices = kind.choices ?? [];
  const at = choices.indexOf(value);
  const change = (/** @type {any} */ e) => setEdit({ path: node.path, value: choices[Number(e.currentTarget.value)] });
  return html`<select id=${id} class="field" disabled=${isBlocked} aria-describedby=${described} aria-invalid=${invalid} value=${String(at)} onChange=${change}>
    ${at < 0 && html`<option value="-1" selected disabled>${value === undefined ? texts.notSetLabel : valueWords(value)}</option>`}
    ${choices.map((one, i) => html`<option key=${i} value=${String(i)} selected=${i === at}>${typeof one === "boolean" ? valueWords(one) : String(one)}</option>`)}
  </select>`;
}
