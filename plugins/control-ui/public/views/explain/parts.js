import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { Open } from "../../ui/icons.js";

/** A panel with its heading. @param {{ id: string, title: string, note?: any, children?: any }} props */
export function Section({ id, title, note, children }) {
  return html`<section class="panel" aria-labelledby=${id}>
    <header><h2 id=${id}>${title}</h2>${note && html`<span class="muted small">${note}</span>`}</header>
    <div class="inside stack">${children}</div>
  </section>`;
}

/** Arguments as somebody reads them. @param {unknown} value */
export function textOf(value) {
  return typeof value === "string" ? value : JSON.stringify(value ?? {}, null, 2);
}

/** A row that opens; what is in it is made when it is opened. @param {{ title: any, facts: Array<string | false | undefined>, isBad?: boolean | undefined, draw: () => any }} props */
export function Fold({ title, facts, isBad = false, draw }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class=${`tool fold ${isBad ? "error" : ""}`} onToggle=${(/** @type {any} */ e) => setOpen(e.currentTarget.open)}>
    <summary><span class="turnable"><${Open} /></span><span class="cut">${title}</span><span class="outcome">${facts.filter(Boolean).join(" · ")}</span></summary>
    ${isOpen && html`<div class="body">${draw()}</div>`}
  </details>`;
}
