import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { callOf } from "../../core/webhook-facts.js";
import { CopyButton } from "../../ui/button.js";

/** @typedef {import("../../core/webhook-facts.js").Hooks} Hooks */

const paths = [
  { path: "agent", word: "Run an agent" },
  { path: "wake", word: "Leave a line" },
];

/** A call that works from a shell, with the token as a variable. @param {{ list: Hooks }} props */
export function Call({ list }) {
  const [path, setPath] = useState("agent");
  const call = callOf(`${location.origin}${list.path ?? "/hooks"}`, path);
  return html`<section class="panel" aria-labelledby="call">
    <header>
      <h2 id="call">Call it</h2>
      <div class="choice" role="group" aria-label="What the call does">${paths.map(
        (one) =>
          html`<button key=${one.path} type="button" aria-pressed=${one.path === path} onClick=${() => setPath(one.path)}>${one.word}</button>`,
      )}</div>
    </header>
    <div class="inside stack">
      <pre class="call" tabindex="0" aria-label="Call"><code>${call}</code></pre>
      <div class="line">
        <${CopyButton} text=${call} label="Copy call" kind="primary" />
        <span class="muted small">$HOOK_TOKEN is what <code>svc hooks token --show</code> prints.</span>
      </div>
    </div>
  </section>`;
}
