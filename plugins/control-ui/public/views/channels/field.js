import { html } from "../../core/html.js";
import { texts } from "../../texts/channels.js";

/** @typedef {import("../../core/channel-setup-facts.js").Field} Field */

/** One key of a channel's section; a secret is written and never shown. @param {{ field: Field, channel: string, value: string, problem: string | undefined, onChange: (value: string) => void }} props */
export function FieldInput({ field, channel, value, problem, onChange }) {
  const { name, label, text, kind, options, standard, isRequired } = field;
  const id = `set-up-${channel}-${name}`;
  const shared = {
    id,
    class: "field",
    value,
    "aria-invalid": problem ? "true" : undefined,
    "aria-describedby": `${id}-text`,
    "aria-required": isRequired ? "true" : undefined,
  };
  const input = (/** @type {any} */ event) => onChange(event.currentTarget.value);
  const about = [text, standard && texts.unsetIs(standard), kind === "list" && texts.severalCommas]
    .filter(Boolean)
    .join(". ")
    .replaceAll("..", ".");
  return html`<div class="set-up-field">
    <label class="label" for=${id}>${label}${isRequired && html`<span class="muted"> ${texts.neededWord}</span>`}</label>
    ${
      kind === "choice" || kind === "switch"
        ? html`<select ...${shared} onChange=${input}><option value="">${texts.unset}</option>${(
            kind === "switch" ? [texts.true, texts.false] : options
          ).map((option) => html`<option key=${option} value=${option}>${option}</option>`)}</select>`
        : html`<input ...${shared} type=${kind === "secret" ? "password" : "text"} inputmode=${kind === "number" ? "numeric" : undefined}
            autocomplete=${kind === "secret" ? "new-password" : "off"} spellcheck=${false} maxlength="4096" onInput=${input} />`
    }
    <p id=${`${id}-text`} class="muted small wrap">${about}${problem && html` <strong class="reason bad">${problem}</strong>`}</p>
  </div>`;
}
