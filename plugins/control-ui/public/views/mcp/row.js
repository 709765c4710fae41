import { useState } from "preact/hooks";
import { outcomeOf } from "../../core/config-write.js";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { logOut, reconnect, removeServer, revoke } from "../../core/mcp.js";
import { lossWords, placeOf, stateOf } from "../../core/mcp-facts.js";
import { formatRoute } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/mcp.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Open } from "../../ui/icons.js";

/** @typedef {import("../../core/mcp-facts.js").Server} Server */
/** @typedef {import("../../core/mcp-facts.js").Settings} Settings */

/** One server: how it is, what helps now, and, opened, its tools. @param {{ server: Server, settings: Settings | undefined, onLogIn: (server: string) => void }} props */
export function ServerRow({ server, settings, onLogIn }) {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  const { name, transport, state, problem, tools } = server;
  const { word, level } = stateOf(server);
  const blocked = noAdminReason.value;
  /** @param {() => Promise<string>} act */
  const run = async (act) => {
    if (isBusy) return;
    setBusy(true);
    setFailed("");
    try {
      announce(await act());
    } catch (error) {
      setFailed(/** @type {Error} */ (error).message);
    }
    setBusy(false);
  };
  const again = () => run(async () => (await reconnect(name), texts.beingConnectedAnew(name)));
  const leave = () => run(async () => ((await logOut(name)) ? texts.loggedOut(name) : texts.thereNoLogin(name)));
  const takeBack = () =>
    ask({
      title: texts.takeBackApprovalsTools(name),
      text: texts.answersAlwaysForgotten,
      action: texts.takeBack,
      run: async () => announce(texts.takenBack(plural(await revoke(name), texts.approvals))),
    });
  const remove = () =>
    ask({
      title: texts.removeOf(name),
      text: lossWords(server),
      action: texts.remove,
      isDanger: true,
      run: async () => announce(`${name}: ${outcomeOf(await removeServer(name))}`),
    });
  const reason = failed || problem;
  return html`<li class="foldable">
    <div class="row-line">
      <button type="button" class="opener" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <${Open} />
        <span class="grow">
          <span class="top-line"><span class="cut title" dir="auto">${name}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span>
            ${server.loggedIn && html`<span class="badge">${texts.loggedIn}</span>`}</span>
          <span class="facts muted small"><span>${transport === "http" ? texts.addressLabel : texts.programLabel}</span><span>${plural(tools.length, texts.tools)}</span></span>
        </span>
      </button>
      <span class="actions">
        ${state === "login" && html`<${Button} kind="slim primary" label=${texts.logInTo(name)} blocked=${blocked} onClick=${() => onLogIn(name)}>${texts.logIn}<//>`}
        <${Button} kind="slim" label=${texts.reconnect(name)} blocked=${blocked} onClick=${again}>${isBusy ? texts.reconnectLabel : texts.reconnectNow}<//>
      </span>
    </div>
    ${reason && html`<div class="notes small"><p class=${`reason wrap ${level === "bad" || failed ? "bad" : ""}`} role=${failed ? "alert" : undefined}>${reason}</p></div>`}
    ${
      isOpen &&
      html`<div class="detail stack">
        <dl class="facts-table small">
          <dt class="muted">${transport === "http" ? texts.addressLabel : texts.command}</dt><dd class="mono">${placeOf(settings) || texts.notKnown}</dd>
          <dt class="muted">${texts.asksPerson}</dt><dd>${approvalWords(settings?.approval)}</dd>
        </dl>
        ${
          tools.length === 0
            ? html`<p class="muted small">${texts.offersNoTools}</p>`
            : html`<div class="stack tight"><h2>${texts.toolsAgentsSee}</h2><ul class="tool-names mono">${tools.map((tool) => html`<li key=${tool}>${tool}</li>`)}</ul></div>`
        }
        <div class="actions">
          <a class="button slim" href=${formatRoute("config", `mcp.servers.${name}`)} aria-label=${texts.settingsOf(name)}>${texts.settings}</a>
          ${transport === "http" && state !== "login" && html`<${Button} kind="slim" label=${texts.logInTo(name)} blocked=${blocked} onClick=${() => onLogIn(name)}>${texts.logIn}<//>`}
          ${server.loggedIn && html`<${Button} kind="slim" label=${texts.logOutOf(name)} blocked=${blocked} onClick=${leave}>${texts.logOut}<//>`}
          <${Button} kind="slim" label=${texts.takeBackApprovalsOf(name)} blocked=${blocked} onClick=${takeBack}>${texts.takeBackApprovals}<//>
          <${Button} kind="slim danger" label=${texts.removeText(name)} blocked=${blocked} onClick=${remove}>${texts.remove}<//>
        </div>
      </div>`
    }
  </li>`;
}

/** @param {string | undefined} approval */
function approvalWords(approval = "writes") {
  return approval === "never" ? texts.never : approval === "always" ? texts.beforeEachCall : texts.beforeCallsTools;
}
