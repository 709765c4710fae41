import { html } from "../../core/html.js";
import { heartbeats, setHeartbeats, wake } from "../../core/schedule.js";
import { beatWords, planFacts, planState } from "../../core/schedule-facts.js";
import { noAdminReason, now, readOnlyReason } from "../../core/store.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Standing } from "../../ui/reading.js";

/** @typedef {import("../../core/schedule-facts.js").Plan} Plan */

/** Heartbeats: times at which agents look around by themselves. */
export function Heartbeats() {
  const known = heartbeats.answer.value;
  if (!known) return html`<${Standing} reading=${heartbeats} onRetry=${heartbeats.read} what="heartbeats" plugin="agents" rows=${2} />`;
  const { plans, last } = known;
  const isOn = plans.some(({ enabled }) => enabled);
  return html`<section class="panel" aria-labelledby="heartbeats">
    <header>
      <h2 id="heartbeats">Heartbeats</h2>
      <${Button} kind="slim" blocked=${noAdminReason.value} onClick=${() => (isOn ? pauseAll() : resumeAll())}>${isOn ? "Switch all off" : "Switch all on"}<//>
    </header>
    <ul class="rows">${plans.map((plan) => html`<${Row} key=${plan.agentId} plan=${plan} />`)}</ul>
    ${last && html`<p class="inside muted small wrap">${beatWords(last, now.value)}</p>`}
  </section>`;
}

/** @param {{ plan: Plan }} props */
function Row({ plan }) {
  const { agentId } = plan;
  const { word, level } = planState(plan);
  return html`<li class="row-line">
    <span class="grow">
      <span class="top-line"><span class="cut title">${agentId}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
      <span class="facts muted small">${planFacts(plan, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
    </span>
    <span class="actions"><${Button} kind="slim" label=${`Wake ${agentId}`} blocked=${readOnlyReason.value} onClick=${() => wakeNow(agentId)}>Wake<//></span>
  </li>`;
}

/** @param {string} agentId */
function wakeNow(agentId) {
  ask({
    title: `Wake ${agentId}`,
    text: "It reads this line in its main session and acts on it at once, as with a heartbeat.",
    action: "Wake",
    field: { label: "Line", value: "", maxLength: 32_768 },
    run: async (value) => {
      if (value.trim() === "") throw new Error("Write what it should look at.");
      await wake(agentId, value.trim());
      announce(`${agentId} was woken.`);
    },
  });
}

function pauseAll() {
  ask({
    title: "Switch all heartbeats off?",
    text: "Agents do not look around by themselves any more, until the heartbeats are switched on here or the gateway starts again. The config is not changed.",
    action: "Switch off",
    isDanger: true,
    run: async () => {
      await setHeartbeats(false);
      announce("All heartbeats are off.");
    },
  });
}

async function resumeAll() {
  try {
    await setHeartbeats(true);
    announce("Heartbeats follow the config again.");
  } catch (error) {
    announce(`Not switched on: ${/** @type {Error} */ (error).message}`);
  }
}
