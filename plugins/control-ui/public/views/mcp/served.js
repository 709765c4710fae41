import { html } from "../../core/html.js";
import { served } from "../../core/mcp.js";
import { clientLines } from "../../core/mcp-facts.js";
import { texts } from "../../texts/mcp.js";
import { Command } from "../../ui/button.js";
import { useLive } from "../../ui/live.js";
import { Standing } from "../../ui/reading.js";
import { Notice } from "../../ui/states.js";

const events = ["config.changed"];

/** The gateway as a server: what clients get, and how they get in. */
export function ServedPanel() {
  useLive(served.read, { events });
  const known = served.answer.value;
  const lines = clientLines(location.origin, known?.path ?? "/mcp");
  return html`<section class="panel" aria-labelledby="served">
    <header><h2 id="served">${texts.gatewayServer}</h2></header>
    <div class="inside stack">
      <p>${texts.clientsProtocolSuch}</p>
      <${Standing} reading=${served} onRetry=${served.read} what=${texts.toolsClients} plugin="mcp-server" rows=${2} />
      ${known?.problem && html`<${Notice} level="warn"><p class="wrap">${texts.noClientCan(known.problem)}</p><//>`}
      ${
        known &&
        html`<dl class="facts-table small">${known.tools.map(
          ({ name, description, isReadOnly }) =>
            html`<dt key=${name} class="mono">${name}</dt><dd class="muted">${description}${isReadOnly ? "" : texts.mayAct}</dd>`,
        )}</dl>
        ${known.tools.length === 0 && html`<p class="muted small">${texts.policyToolsLets}</p>`}
        <div class="stack tight"><h2>${texts.clientTakesAddress}</h2><${Command} command=${lines.address} /><${Command} command=${lines.header} /></div>
        <div class="stack tight"><h2>${texts.clientStartsPrograms}</h2><${Command} command=${lines.program} /></div>`
      }
    </div>
  </section>`;
}
