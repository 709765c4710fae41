import { filePurposes, sentenceOf } from "../../core/agent-facts.js";
import { agents } from "../../core/agents.js";
import { html } from "../../core/html.js";
import { route } from "../../core/router.js";
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
    <${Head} title="Agents" sentence=${known && sentenceOf(known)} readAt=${agents.readAt.value} />
    <${Standing} reading=${agents} onRetry=${agents.read} what="agents" plugin="agents" />
    ${
      known &&
      html`<section class="panel" aria-label="Agent list"><ul class="rows">${known.agents.map(
        (agent) => html`<${AgentRow} key=${agent.id} agent=${agent} isDefault=${agent.id === known.defaultId}
          models=${known.models.find(({ agentId }) => agentId === agent.id)} isOpen=${known.agents.length === 1} />`,
      )}</ul></section>
      <section class="panel" aria-labelledby="another">
        <header><h2 id="another">Another agent</h2></header>
        <div class="inside stack"><p>It has a workspace, notes and sessions of its own.</p><${Command} command="svc agents add helper" /></div>
      </section>`
    }
  </div>`;
}
