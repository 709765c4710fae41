import { html } from "../../core/html.js";
import { heartbeats, setHeartbeats, wake } from "../../core/schedule.js";
import { beatWords, planFacts, planState } from "../../core/schedule-facts.js";
import { noAdminReason, now, readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/schedule.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { useLive } from "../../ui/live.js";
import { Standing } from "../../ui/reading.js";

/** @typedef {import("../../core/schedule-facts.js").Plan} Plan */

/** Heartbeats: times at which agents look around by themselves. */
export default function Heartbeats() {
  useLive(heartbeats.read, { events: ["heartbeat", "health"] });
  const known = heartbeats.answer.value;
  if (!known)
    return html`<${Standing} reading=${heartbeats} onRetry=${heartbeats.read} what=${texts.heartbeats} plugin="agents" rows=${2} />`;
  const { plans, last } = known;
  const isOn = plans.some(({ enabled }) => enabled);
  return html`<section class="panel" aria-labelledby="heartbeats">
    <header>
      <h2 id="heartbeats">${texts.heartbeatsLabel}</h2>
      <${Button} kind="slim" blocked=${noAdminReason.value} onClick=${() => (isOn ? pauseAll() : resumeAll())}>${isOn ? texts.switchAllOff : texts.switchAll}<//>
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
      <span class="top-line"><span class="cut title" dir="auto">${agentId}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
      <span class="facts muted small">${planFacts(plan, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
    </span>
    <span class="actions"><${Button} kind="slim" label=${texts.wakeOf(agentId)} blocked=${readOnlyReason.value} onClick=${() => wakeNow(agentId)}>${texts.wake}<//></span>
  </li>`;
}

/** @param {string} agentId */
function wakeNow(agentId) {
  ask({
    title: texts.wakeOf(agentId),
    text: texts.readsLineMain,
    action: texts.wake,
    field: { label: texts.line, value: "", maxLength: 32_768 },
    run: async (value) => {
      if (value.trim() === "") throw new Error(texts.writeShouldLook);
      await wake(agentId, value.trim());
      announce(texts.woken(agentId));
    },
  });
}

function pauseAll() {
  ask({
    title: texts.switchAllHeartbeats,
    text: texts.agentsDoNot,
    action: texts.switchOff,
    isDanger: true,
    run: async () => {
      await setHeartbeats(false);
      announce(texts.allHeartbeatsOff);
    },
  });
}

async function resumeAll() {
  try {
    await setHeartbeats(true);
    announce(texts.heartbeatsFollowConfig);
  } catch (error) {
    announce(texts.notSwitched(/** @type {Error} */ (error).message));
  }
}
