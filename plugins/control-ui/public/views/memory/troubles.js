import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { memoryOf, readMemory } from "../../core/memory.js";
import { troublesOf } from "../../core/memory-facts.js";
import { isOnline } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { Button, Command } from "../../ui/button.js";
import { Info, Warn } from "../../ui/icons.js";

/** @typedef {import("../../core/memory-facts.js").MemoryStatus} MemoryStatus */
/** @typedef {import("../../core/memory-facts.js").Trouble} Trouble */

/** One line for each thing that is less than it is set to be; why, and what to do, behind a button. @param {{ agentId: string, status: MemoryStatus }} props */
export function Troubles({ agentId, status }) {
  return troublesOf(status).map((trouble) => html`<${Line} key=${trouble.id} trouble=${trouble} agentId=${agentId} />`);
}

/** @param {{ trouble: Trouble, agentId: string }} props */
function Line({ trouble, agentId }) {
  const [isOpen, setOpen] = useState(false);
  const { level, text, why, fix, command, id } = trouble;
  return html`<div class=${`notice ${level}`}>
    <${level === "info" ? Info : Warn} />
    <div class="grow">
      <div class="line"><span class="grow">${text}</span>
        <${Button} kind="quiet slim" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${texts.why}<//></div>
      ${
        isOpen &&
        html`<div class="stack tight">
          <p>${why}</p>
          ${fix && html`<p>${fix}</p>`}
          ${id === "provider" && html`<${Probe} agentId=${agentId} />`}
          ${command && html`<${Command} command=${command} />`}
        </div>`
      }
    </div>
  </div>`;
}

/** Asks the provider for one vector now. @param {{ agentId: string }} props */
function Probe({ agentId }) {
  const [isBusy, setBusy] = useState(false);
  const probe = memoryOf(agentId).status?.probe;
  const ask = async () => {
    if (isBusy) return;
    setBusy(true);
    await readMemory(agentId, { deep: true });
    setBusy(false);
  };
  const outcome = !probe ? "" : probe.ok ? texts.answersNowAfter(probe.ms) : texts.stillDoesNot(probe.error ?? texts.noReasonGiven);
  return html`<div class="actions">
    <${Button} kind="slim" blocked=${isOnline.value ? undefined : texts.notConnectedGateway} onClick=${ask}>${isBusy ? texts.asking : texts.tryProvider}<//>
    <span role="status">${isBusy ? "" : outcome}</span>
  </div>`;
}
