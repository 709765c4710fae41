import { setEdit } from "../../core/config.js";
import { html } from "../../core/html.js";
import { texts } from "../../texts/config-more.js";

/** @typedef {import("../../core/config-types.js").Control} Control */

/** Whatever has no control of its own. @param {Control} props */
export default function Json({ id, node: { path }, value, text, isBlocked, described, invalid }) {
  const words = text ?? (value === undefined ? "" : JSON.stringify(value, null, 2));
  /** @param {string} next */
  const change = (next) => {
    try {
      setEdit(next.trim() === "" ? { path } : { path, value: JSON.parse(next), text: next });
    } catch (error) {
      setEdit({ path, text: next, problem: texts.notJsonYet(/** @type {Error} */ (error).message) });
    }
  };
  return html`<textarea dir="auto" id=${id} class="field mono" rows=${Math.min(16, Math.max(3, words.split("\n").length))} spellcheck="false" readonly=${isBlocked}
    aria-describedby=${described} aria-invalid=${invalid} value=${words} onInput=${(/** @type {any} */ e) => change(e.currentTarget.value)}></textarea>`;
}
