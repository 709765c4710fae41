import { html } from "../../core/html.js";
import { resultText } from "../../core/panel-facts.js";
import { texts } from "../../texts/panels.js";
import { LongText } from "../../ui/long-text.js";

/** @typedef {{ result?: unknown, error?: unknown } | undefined} Outcome */

/** Outcome of a form or a command, in its place. @param {{ outcome: Outcome }} props */
export function OutcomeOf({ outcome }) {
  const text = outcome && "result" in outcome ? resultText(outcome.result) : "";
  const isLong = text.includes("\n") || text.length > 200;
  // The region has to be there before there is something to say.
  return html`<div role="status" class="small panel-outcome">${outcome && "result" in outcome && (isLong ? texts.done : text || texts.done)}</div>
    ${isLong && html`<${LongText} text=${text} label=${texts.result} />`}
    ${outcome && "error" in outcome && html`<p class="reason bad wrap" role="alert">${texts.failed} ${messageOf(outcome.error)}</p>`}`;
}

/** @param {unknown} error */
function messageOf(error) {
  return /** @type {{ message?: string }} */ (error)?.message ?? String(error);
}
