import { useState } from "preact/hooks";
import { signOut } from "../core/conn.js";
import { buildId, forgetBrowser, kept } from "../core/env.js";
import { clock, list, span } from "../core/format.js";
import { html } from "../core/html.js";
import { setTheme, theme } from "../core/look.js";
import { gatewayName, hello, isOnline, lastOnlineAt, uptimeMs } from "../core/store.js";
import { texts } from "../texts/about.js";
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
    <h1>${texts.about}</h1>
    ${!isOnline.value && html`<p class="muted">${texts.notConnectedAsOf(clock(lastOnlineAt.value))}</p>`}
    <section class="panel" aria-labelledby="gateway">
      <header><h2 id="gateway">${texts.gateway}</h2><${CopyButton} text=${facts.map(([k, v]) => `${k}: ${v}`).join("\n")} label=${texts.copyDiagnostics} /></header>
      <dl class="inside facts-table">${facts.map(([name, value]) => html`<dt key=${name} class="muted">${name}</dt><dd>${value}</dd>`)}</dl>
    </section>
    <section class="panel" aria-labelledby="look">
      <header><h2 id="look">${texts.browser}</h2></header>
      <div class="inside stack">
        <div class="choice" role="group" aria-label=${texts.appearance}>${themes.map(
          (name) =>
            html`<button key=${name} type="button" aria-pressed=${theme.value === name} onClick=${() => setTheme(name)}>${name === "system" ? texts.system : name === "light" ? texts.light : texts.dark}</button>`,
        )}</div>
        <${Offline} />
        <p class="muted small">${texts.keptHereToken}</p>
        <div class="actions"><${Button} kind="danger" onClick=${forget}>${texts.forgetBrowser}<//></div>
      </div>
    </section>
    <section class="panel" aria-labelledby="keys">
      <header><h2 id="keys">${texts.keys}</h2></header><div class="inside"><${KeyTable} /></div>
    </section>
    <section class="panel" aria-labelledby="licences">
      <header><h2 id="licences">${texts.licences}</h2></header>
      <p class="inside muted small">${texts.pageContains} ${list(licences.map(([name, licence]) => `${name} (${licence})`))}.</p>
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
      else if (!canKeep()) throw new Error(texts.browserServiceWorkers);
      else await keepOffline();
      setOn(!isOn);
    } catch (error) {
      setFailed(/** @type {Error} */ (error).message);
    }
  };
  return html`<div class="actions"><${Button} aria-pressed=${isOn} onClick=${change}>${texts.keepReadingOffline}<//></div>
    <p class="muted small">${isOn ? texts.pageNewestSessions : texts.offWithoutConnection}</p>
    ${failed && html`<p class="notice bad" role="alert">${texts.notKept(failed)}</p>`}`;
}

/** @returns {Array<[string, string]>} */
function factsNow() {
  const { server, snapshot, auth } = hello.value ?? {};
  return [
    [texts.name, gatewayName.value],
    [texts.version, server?.version ?? texts.unknown],
    [texts.running, span(uptimeMs.value)],
    [texts.protocol, String(hello.value?.protocol ?? "")],
    [texts.signed, snapshot?.authMode ?? texts.unknown],
    [texts.rights, list((auth?.scopes ?? []).map((s) => s.replace("operator.", "")))],
    [texts.pageBuild, buildId],
  ];
}

function forget() {
  ask({
    title: texts.forgetThisBrowser,
    text: texts.removesTokenDrafts,
    action: texts.forget,
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
