import { useState } from "preact/hooks";
import { outcomeOf } from "../../core/config-write.js";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { logOut, reconnect, removeServer, revoke } from "../../core/mcp.js";
import { lossWords, placeOf, stateOf } from "../../core/mcp-facts.js";
import { formatRoute } from "../../core/router.js";
import { noAdminReason } from "../../core/store.js";
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
  const again = () => run(async () => (await reconnect(name), `${name} is being connected anew.`));
  const leave = () => run(async () => ((await logOut(name)) ? `Logged out of ${name}.` : `There was no login at ${name}.`));
  const takeBack = () =>
    ask({
      title: `Take back approvals for the tools of ${name}?`,
      text: "Answers “for always” are forgotten: the next call asks a person again.",
      action: "Take back",
      run: async () => announce(`${plural(await revoke(name), "approval")} taken back.`),
    });
  const remove = () =>
    ask({
      title: `Remove ${name}?`,
      text: lossWords(server),
      action: "Remove",
      isDanger: true,
      run: async () => announce(`${name}: ${outcomeOf(await removeServer(name))}`),
    });
  const reason = failed || problem;
  return html`<li class="foldable">
    <div class="row-line">
      <button type="button" class="opener" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <${Open} />
        <span class="grow">
          <span class="top-line"><span class="cut title">${name}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span>
            ${server.loggedIn && html`<span class="badge">logged in</span>`}</span>
          <span class="facts muted small"><span>${transport === "http" ? "Address" : "Program"}</span><span>${plural(tools.length, "tool")}</span></span>
        </span>
      </button>
      <span class="actions">
        ${state === "login" && html`<${Button} kind="slim primary" label=${`Log in: ${name}`} blocked=${blocked} onClick=${() => onLogIn(name)}>Log in<//>`}
        <${Button} kind="slim" label=${`Reconnect: ${name}`} blocked=${blocked} onClick=${again}>${isBusy ? "Reconnect…" : "Reconnect"}<//>
      </span>
    </div>
    ${reason && html`<div class="notes small"><p class=${`reason wrap ${level === "bad" || failed ? "bad" : ""}`} role=${failed ? "alert" : undefined}>${reason}</p></div>`}
    ${
      isOpen &&
      html`<div class="detail stack">
        <dl class="facts-table small">
          <dt class="muted">${transport === "http" ? "Address" : "Command"}</dt><dd class="mono">${placeOf(settings) || "not known"}</dd>
          <dt class="muted">Asks a person</dt><dd>${approvalWords(settings?.approval)}</dd>
        </dl>
        ${
          tools.length === 0
            ? html`<p class="muted small">It offers no tools now.</p>`
            : html`<div class="stack tight"><h2>Tools, as agents see them</h2><ul class="tool-names mono">${tools.map((tool) => html`<li key=${tool}>${tool}</li>`)}</ul></div>`
        }
        <div class="actions">
          <a class="button slim" href=${formatRoute("config", `mcp.servers.${name}`)} aria-label=${`Settings: ${name}`}>Settings</a>
          ${transport === "http" && state !== "login" && html`<${Button} kind="slim" label=${`Log in: ${name}`} blocked=${blocked} onClick=${() => onLogIn(name)}>Log in<//>`}
          ${server.loggedIn && html`<${Button} kind="slim" label=${`Log out: ${name}`} blocked=${blocked} onClick=${leave}>Log out<//>`}
          <${Button} kind="slim" label=${`Take back approvals: ${name}`} blocked=${blocked} onClick=${takeBack}>Take back approvals<//>
          <${Button} kind="slim danger" label=${`Remove: ${name}`} blocked=${blocked} onClick=${remove}>Remove<//>
        </div>
      </div>`
    }
  </li>`;
}

/** @param {string | undefined} approval */
function approvalWords(approval = "writes") {
  return approval === "never"
    ? "never"
    : approval === "always"
      ? "before each call"
      : "before calls of tools that do not say that they only read";
}
