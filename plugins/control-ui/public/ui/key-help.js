import { html } from "../core/html.js";
import { isHelpOpen } from "../core/keys.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";

/** Table of keyboard shortcuts, in the order shown. */
const keyTable = [
  { keys: ["Ctrl", "K"], does: "Go anywhere, do anything" },
  { keys: ["g", "o"], does: "Overview" },
  { keys: ["g", "c"], does: "Chat" },
  { keys: ["g", "s"], does: "Sessions" },
  { keys: ["g", "m"], does: "Memory" },
  { keys: ["g", "n"], does: "Channels" },
  { keys: ["g", "w"], does: "Webhooks" },
  { keys: ["g", "p"], does: "Plugins" },
  { keys: ["g", "d"], does: "Devices" },
  { keys: ["g", "a"], does: "Agents" },
  { keys: ["g", "e"], does: "Models" },
  { keys: ["g", "t"], does: "Schedule" },
  { keys: ["g", "v"], does: "MCP servers" },
  { keys: ["g", "f"], does: "Config" },
  { keys: ["g", "u"], does: "Usage" },
  { keys: ["g", "l"], does: "Logs" },
  { keys: ["y"], does: "Needs you" },
  { keys: ["/"], does: "Search" },
  { keys: ["n"], does: "New session" },
  { keys: ["Alt", "↑ ↓"], does: "Other session" },
  { keys: ["Enter"], does: "Send" },
  { keys: ["Shift", "Enter"], does: "New line" },
  { keys: ["↑ ↓"], does: "Earlier message, in an empty field" },
  { keys: ["Esc"], does: "Close, or stop the answer" },
  { keys: ["?"], does: "These keys" },
];

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
