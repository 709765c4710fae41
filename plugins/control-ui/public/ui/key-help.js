import { html } from "../core/html.js";
import { isHelpOpen } from "../core/keys.js";
import { texts } from "../texts/palette.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";

/** Table of keyboard shortcuts, in the order shown. */
const keyTable = [
  { keys: ["Ctrl", "K"], does: texts.goAnywhereDo },
  { keys: ["g", "o"], does: texts.overview },
  { keys: ["g", "c"], does: texts.chat },
  { keys: ["g", "s"], does: texts.sessions },
  { keys: ["g", "m"], does: texts.memory },
  { keys: ["g", "n"], does: texts.channels },
  { keys: ["g", "w"], does: texts.webhooks },
  { keys: ["g", "p"], does: texts.plugins },
  { keys: ["g", "d"], does: texts.devices },
  { keys: ["g", "a"], does: texts.agents },
  { keys: ["g", "e"], does: texts.models },
  { keys: ["g", "t"], does: texts.schedule },
  { keys: ["g", "v"], does: texts.mcpServers },
  { keys: ["g", "f"], does: texts.config },
  { keys: ["g", "u"], does: texts.usage },
  { keys: ["g", "l"], does: texts.logs },
  { keys: ["y"], does: texts.needsYou },
  { keys: ["/"], does: texts.search },
  { keys: ["n"], does: texts.newSession },
  { keys: ["Alt", "↑ ↓"], does: texts.otherSession },
  { keys: ["Enter"], does: texts.send },
  { keys: ["Shift", "Enter"], does: texts.newLine },
  { keys: ["↑ ↓"], does: texts.earlierMessageEmpty },
  { keys: ["Esc"], does: texts.closeStopAnswer },
  { keys: ["?"], does: texts.theseKeys },
];

export function KeyTable() {
  return html`<dl class="keys">${keyTable.map(
    ({ keys, does }) => html`<dt key=${does}>${keys.map((k) => html`<kbd key=${k}>${k}</kbd> `)}</dt><dd>${does}</dd>`,
  )}</dl>`;
}

export default function KeyHelp() {
  const close = () => (isHelpOpen.value = false);
  return html`<${Dialog} label=${texts.keys} onClose=${close}><div>
    <h2>${texts.keys}</h2>
    <${KeyTable} />
    <div class="actions"><${Button} onClick=${close} autofocus=${true}>${texts.close}<//></div>
  </div><//>`;
}
