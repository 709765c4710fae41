import { useState } from "preact/hooks";
import { signOut } from "../core/conn.js";
import { buildId, forgetBrowser, kept } from "../core/env.js";
import { span } from "../core/format.js";
import { html } from "../core/html.js";
import { setTheme, theme } from "../core/look.js";
import { gatewayName, hello, uptimeMs } from "../core/store.js";
import { Button, CopyButton } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { KeyTable } from "../ui/key-help.js";

const themes = /** @type {const} */ (["system", "light", "dark"]);
const licences = [
  ["preact", "MIT"],
  ["htm", "Apache-2.0"],
  ["@preact/signals", "MIT"],
  ["marked", "MIT"],
  ["uPlot", "MIT"],
];

export default function About() {
  const facts = factsNow();
  return html`<div class="page about">
    <h1>About</h1>
    <section class="panel" aria-labelledby="gateway">
      <header><h2 id="gateway">Gateway</h2><${CopyButton} text=${facts.map(([k, v]) => `${k}: ${v}`).join("\n")} label="Copy diagnostics" /></header>
      <dl class="inside facts-table">${facts.map(([name, value]) => html`<dt key=${name} class="muted">${name}</dt><dd>${value}</dd>`)}</dl>
    </section>
    <section class="panel" aria-labelledby="look">
      <header><h2 id="look">This browser</h2></header>
      <div class="inside stack">
        <div class="choice" role="group" aria-label="Appearance">${themes.map(
          (name) =>
            html`<button key=${name} type="button" aria-pressed=${theme.value === name} onClick=${() => setTheme(name)}>${name === "system" ? "As the system" : name === "light" ? "Light" : "Dark"}</button>`,
        )}</div>
        <${Offline} />
        <p class="muted small">Kept here: the token and unsaved forms until the tab closes; drafts and messages on their way until they are sent.</p>
        <div class="actions"><${Button} kind="danger" onClick=${forget}>Forget this browser<//></div>
      </div>
    </section>
    <section class="panel" aria-labelledby="keys">
      <header><h2 id="keys">Keys</h2></header><div class="inside"><${KeyTable} /></div>
    </section>
    <section class="panel" aria-labelledby="licences">
      <header><h2 id="licences">Licences</h2></header>
      <p class="inside muted small">This page contains ${licences.map(([name, licence]) => `${name} (${licence})`).join(", ")}.</p>
    </section>
  </div>`;
}

/** Switch of reading without a network. */
function Offline() {
  const [isOn, setOn] = useState(kept.get("offline") === "1");
  const [failed, setFailed] = useState("");
  const change = async () => {
    setFailed("");
    try {
      const { canKeep, forgetOffline, keepOffline } = await import("../core/offline.js");
      if (isOn) await forgetOffline();
      else if (!canKeep()) throw new Error("This browser has service workers over HTTPS only.");
      else await keepOffline();
      setOn(!isOn);
    } catch (error) {
      setFailed(/** @type {Error} */ (error).message);
    }
  };
  return html`<div class="actions"><${Button} aria-pressed=${isOn} onClick=${change}>Keep for reading offline<//></div>
    <p class="muted small">${isOn ? "The page, the newest sessions and the chats that were open are kept in this browser, readable for whoever uses it." : "Off: without a connection there is nothing to read after a reload."}</p>
    ${failed && html`<p class="notice bad" role="alert">Not kept: ${failed}</p>`}`;
}

/** @returns {Array<[string, string]>} */
function factsNow() {
  const { server, snapshot, auth } = hello.value ?? {};
  return [
    ["Name", gatewayName.value],
    ["Version", server?.version ?? "unknown"],
    ["Running for", span(uptimeMs.value)],
    ["Protocol", String(hello.value?.protocol ?? "")],
    ["Signed in with", snapshot?.authMode ?? "unknown"],
    ["Rights", (auth?.scopes ?? []).map((s) => s.replace("operator.", "")).join(", ")],
    ["Page build", buildId],
  ];
}

function forget() {
  ask({
    title: "Forget this browser?",
    text: "Removes the token, drafts, unsent messages, settings and what is kept for reading offline. Nothing on the gateway changes.",
    action: "Forget",
    isDanger: true,
    run: async () => {
      const { forgetOffline } = await import("../core/offline.js");
      await forgetOffline();
      signOut();
      forgetBrowser();
      location.replace(location.pathname);
    },
  });
}
