import { html } from "../core/html.js";
import { isHelpOpen, keyTable } from "../core/keys.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";

export function KeyTable() {
  return html`<dl class="keys">${keyTable.map(
    ({ keys, does }) => html`<dt key=${does}>${keys.map((k) => html`<kbd key=${k}>${k}</kbd> `)}</dt><dd>${does}</dd>`,
  )}</dl>`;
}

export default function KeyHelp() {
  const close = () => (isHelpOpen.value = false);
  return html`<${Dialog} label="Keys" onClose=${close}><div>
    <h2>Keys</h2>
    <${KeyTable} />
    <div class="actions"><${Button} onClick=${close} autofocus=${true}>Close<//></div>
  </div><//>`;
}
