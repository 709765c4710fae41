import { signal } from "@preact/signals";
import { render } from "preact";
import { html } from "../core/html.js";

const SHOWN_MS = 5_000;
const text = signal("");
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Says an outcome that has no place of its own any more, such as of a row that left the list. @param {string} sentence */
export function announce(sentence) {
  text.value = sentence;
  clearTimeout(timer);
  timer = setTimeout(() => (text.value = ""), SHOWN_MS);
}

const host = document.createElement("div");
document.body.append(host);
render(html`<${Announcer} />`, host);

function Announcer() {
  return html`<div class=${`announcer ${text.value ? "shown" : ""}`} role="status">${text.value}</div>`;
}
