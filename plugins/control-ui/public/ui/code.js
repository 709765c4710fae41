import { html } from "../core/html.js";

/** A sentence in which names stand in backticks. @param {string} text */
export function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 === 1 ? html`<code key=${i}>${part}</code>` : part));
}
