import { clockSeconds, moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { lookOf, partsOf, shortName } from "../../core/log-facts.js";
import { texts } from "../../texts/logs.js";
import { CopyButton } from "../../ui/button.js";

/** One line of the log, or what happened between two of them. @param {{ row: import("../../core/log-facts.js").LogRow, isOpen: boolean, onToggle: (id: number) => void }} props */
export function Line({ row, isOpen, onToggle }) {
  if ("note" in row) return html`<p class="log-note small"><i class="dot warn"></i>${row.note}</p>`;
  const { id, at, level, subsystem, message, raw } = row;
  return html`<div class=${`log-line ${lookOf(level)}`}>
    <button type="button" aria-expanded=${isOpen} onClick=${() => onToggle(id)}>
      <time title=${at === undefined ? undefined : moment(at)}>${at === undefined ? "" : clockSeconds(at)}</time>
      <span class="level">${level}</span>
      <span class="part cut">${shortName(subsystem)}</span>
      <span class="message">${message}</span>
    </button>
    ${isOpen && html`<${Fields} raw=${raw} />`}
  </div>`;
}

/** @param {{ raw: string }} props */
function Fields({ raw }) {
  return html`<div class="log-fields">
    <dl class="facts-table small">${partsOf(raw).map(
      ({ name, text, isBlock }) => html`<dt key=${name} class="muted">${name}</dt>
        <dd>${isBlock ? html`<pre class="mono" tabindex="0" aria-label=${name}>${text}</pre>` : text}</dd>`,
    )}</dl>
    <${CopyButton} text=${raw} label=${texts.copyLine} />
  </div>`;
}
