import { useState } from "preact/hooks";
import { moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { dreamingOf, sweepNow } from "../../core/memory.js";
import { dreamingWords } from "../../core/memory-facts.js";
import { fileAddress } from "../../core/router.js";
import { defaultAgentId, noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";

/** Panel of dreaming, where it is on or was used: how it stands, the way to the diary, and a sweep by hand. @param {{ agentId: string }} props */
export function Dreams({ agentId }) {
  const dreaming = dreamingOf(agentId);
  const [isBusy, setBusy] = useState(false);
  const words = dreaming && dreamingWords(dreaming, moment);
  if (!dreaming || !words) return null;
  const place = dreaming.workspaces[0];
  const sweep = async () => {
    setBusy(true);
    try {
      await sweepNow(agentId);
      announce(texts.shortTermMemory);
    } catch (error) {
      announce(texts.notSwept(/** @type {Error} */ (error).message));
    } finally {
      setBusy(false);
    }
  };
  const agent = agentId === defaultAgentId.value ? undefined : agentId;
  const blocked = noAdminReason.value ?? (isBusy ? texts.sweepRunning : undefined);
  return html`<section class="panel" aria-labelledby="memory-dreams">
    <header><h2 id="memory-dreams">${texts.dreaming}</h2></header>
    <div class="inside padded stack">
      <p>${words.state} ${words.last}</p>
      ${words.problem && html`<p class="muted">${words.problem}</p>`}
      <p>
        ${place?.lastSweep && place.lastSweep.diary !== "none" && html`<a class="button slim" href=${fileAddress({ path: place.diary }, agent, "")}>${texts.openDiary}</a>`}
        <${Button} onClick=${sweep} blocked=${blocked}>${texts.sweepNow}<//>
      </p>
    </div>
  </section>`;
}
