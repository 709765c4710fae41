import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { servers, settings } from "../../core/mcp.js";
import { sentenceOf } from "../../core/mcp-facts.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/mcp.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Plus } from "../../ui/icons.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { ServerRow } from "./row.js";
import { ServedPanel } from "./served.js";

/** Connections come and go without an event. */
const EVERY_MS = 5_000;
const events = ["config.changed"];

/** Page of the MCP servers: those whose tools agents have, and the one that the gateway is. */
export default function McpPage() {
  const [Overlay, setOverlay] = useState(/** @type {{ Form: any, props: object } | undefined} */ (undefined));
  useLive(servers.read, { events, everyMs: EVERY_MS });
  useLive(settings.read, { events });
  const list = servers.answer.value;
  const known = settings.answer.value ?? {};
  const close = () => setOverlay(undefined);
  /** Forms are fetched when they are first needed. @param {() => Promise<{ default: any }>} load @param {object} props */
  const open = async (load, props) => {
    const module = await load().catch(() => undefined);
    if (module) setOverlay({ Form: module.default, props });
    else announce(texts.formCouldNot);
  };
  const add = () => open(() => import("./add.js"), { taken: Object.keys(known) });
  const logIn = (/** @type {string} */ server) =>
    open(() => import("./login.js"), { server, isRegistered: known[server]?.oauth?.clientId !== undefined });
  return html`<div class="page lists mcp">
    <${Head} title=${texts.mcpServers} sentence=${list && sentenceOf(list)} readAt=${servers.readAt.value}>
      <${Button} kind="primary" icon=${Plus} blocked=${noAdminReason.value} onClick=${add}>${texts.addServer}<//>
    <//>
    <${Standing} reading=${servers} onRetry=${servers.read} what=${texts.mcpServers} plugin="mcp-client" rows=${3} />
    ${
      list &&
      list.length > 0 &&
      html`<section class="panel" aria-label=${texts.serverList}><ul class="rows">${list.map(
        (server) => html`<${ServerRow} key=${server.name} server=${server} settings=${known[server.name]} onLogIn=${logIn} />`,
      )}</ul></section>`
    }
    ${
      list &&
      list.length === 0 &&
      html`<div class="empty"><h2>${texts.noMcpServers}</h2><p>${texts.serverModelContext}</p>
        <${Button} kind="primary" icon=${Plus} blocked=${noAdminReason.value} onClick=${add}>${texts.addServer}<//></div>`
    }
    <${ServedPanel} />
    ${Overlay && html`<${Overlay.Form} ...${Overlay.props} onClose=${close} />`}
  </div>`;
}
