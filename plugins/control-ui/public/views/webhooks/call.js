import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { callOf } from "../../core/webhook-facts.js";
import { texts } from "../../texts/webhooks.js";
import { CopyButton } from "../../ui/button.js";

/** @typedef {import("../../core/webhook-facts.js").Hooks} Hooks */

const paths = [
  { path: "agent", word: texts.runAgent },
  { path: "wake", word: texts.leaveLine },
];

/** A call that works from a shell, with the token as a variable. @param {{ list: Hooks }} props */
export function Call({ list }) {
  const [path, setPath] = useState("agent");
  const call = callOf(`${location.origin}${list.path ?? "/hooks"}`, path);
  return html`<section class="panel" aria-labelledby="call">
    <header>
      <h2 id="call">${texts.call}</h2>
      <div class="choice" role="group" aria-label=${texts.callDoes}>${paths.map(
        (one) =>
          html`<button key=${one.path} type="button" aria-pressed=${one.path === path} onClick=${() => setPath(one.path)}>${one.word}</button>`,
      )}</div>
    </header>
    <div class="inside stack">
      <pre class="call" tabindex="0" aria-label=${texts.callLabel}><code>${call}</code></pre>
      <div class="line">
        <${CopyButton} text=${call} label=${texts.copyCall} kind="primary" />
        <span class="muted small">${texts.hookToken} <code>svc hooks token --show</code> ${texts.prints}</span>
      </div>
    </div>
  </section>`;
}
