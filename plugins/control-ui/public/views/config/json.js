import { setEdit } from "../../core/config.js";
import { html } from "../../core/html.js";

/** @typedef {import("./field.js").Control} Control */

/** Whatever has no control of its own. @param {Control} props */
export default function Json({ id, node: { path }, value, text, isBlocked, described, invalid }) {
  const words = text ?? (value === undefined ? "" : JSON.stringify(value, null, 2));
  /** @param {string} next */
  const change = (next) => {
    try {
      setEdit(next.trim() === "" ? { path } : { path, value: JSON.parse(next), text: next });
    } catch (error) {
      setEdit({ path, text: next, problem: `Not JSON yet: ${/** @type {Error} */ (error).message}` });
    }
  };
  return html`<textarea id=${id} class="field mono" rows=${Math.min(16, Math.max(3, words.split("\n").length))} spellcheck="false" readonly=${isBlocked}
    aria-describedby=${described} aria-invalid=${invalid} value=${words} onInput=${(/** @type {any} */ e) => change(e.currentTarget.value)}></textarea>`;
}
