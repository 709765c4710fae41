import { html } from "../../core/html.js";
import { served } from "../../core/mcp.js";
import { clientLines } from "../../core/mcp-facts.js";
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
    <header><h2 id="served">This gateway as a server</h2></header>
    <div class="inside stack">
      <p>Clients of the protocol, such as editors, reach notes, conversations and agents here.</p>
      <${Standing} reading=${served} onRetry=${served.read} what="tools for clients" plugin="mcp-server" rows=${2} />
      ${known?.problem && html`<${Notice} level="warn"><p class="wrap">No client can be served now: ${known.problem}</p><//>`}
      ${
        known &&
        html`<dl class="facts-table small">${known.tools.map(
          ({ name, description, isReadOnly }) =>
            html`<dt key=${name} class="mono">${name}</dt><dd class="muted">${description}${isReadOnly ? "" : " It may act."}</dd>`,
        )}</dl>
        ${known.tools.length === 0 && html`<p class="muted small">The policy of tools lets none through.</p>`}
        <div class="stack tight"><h2>A client that takes an address</h2><${Command} command=${lines.address} /><${Command} command=${lines.header} /></div>
        <div class="stack tight"><h2>A client that starts programs</h2><${Command} command=${lines.program} /></div>`
      }
    </div>
  </section>`;
}
