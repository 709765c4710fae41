import { filePurposes, sentenceOf } from "../../core/agent-facts.js";
import { agents } from "../../core/agents.js";
import { html } from "../../core/html.js";
import { route } from "../../core/router.js";
import { texts } from "../../texts/agents.js";
import { Command } from "../../ui/button.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { AgentRow } from "./agent.js";
import { Editor } from "./editor.js";

const events = ["config.changed", "health"];

/** Page of the agents: who they are, which model answers, what they may use, and the files that their prompts are made of. */
export default function AgentsPage() {
  useLive(agents.read, { events });
  const { a, file } = route.value.params;
  const known = agents.answer.value;
  if (a !== undefined && file !== undefined && Object.hasOwn(filePurposes, file))
    return html`<${Editor} key=${`${a} ${file}`} agentId=${a} name=${file} />`;
  return html`<div class="page lists agents">
    <${Head} title=${texts.agentsLabel} sentence=${known && sentenceOf(known)} readAt=${agents.readAt.value} />
    <${Standing} reading=${agents} onRetry=${agents.read} what=${texts.whatAgents} plugin="agents" />
    ${
      known &&
      html`<section class="panel" aria-label=${texts.agentList}><ul class="rows">${known.agents.map(
        (agent) => html`<${AgentRow} key=${agent.id} agent=${agent} isDefault=${agent.id === known.defaultId}
          models=${known.models.find(({ agentId }) => agentId === agent.id)} isOpen=${known.agents.length === 1} />`,
      )}</ul></section>
      <section class="panel" aria-labelledby="another">
        <header><h2 id="another">${texts.anotherAgent}</h2></header>
        <div class="inside stack"><p>${texts.workspaceNotesSessions}</p><${Command} command="svc agents add helper" /></div>
      </section>`
    }
  </div>`;
}
