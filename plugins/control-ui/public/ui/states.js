import { useState } from "preact/hooks";
import { html } from "../core/html.js";
import { Button } from "./button.js";
import { Info, Warn } from "./icons.js";

/** Grey rows while something loads. @param {{ rows?: number, label?: string }} props */
export function Waiting({ rows = 4, label = "Loading" }) {
  return html`<div class="waiting" role="status" aria-label=${label}>${Array.from({ length: rows }, (_, i) => html`<i key=${i}></i>`)}</div>`;
}

/**
 * Shows a failure inside its panel: what failed, why, and what to do.
 * @param {{ what: string, error: unknown, onRetry?: () => void }} props
 */
export function Failure({ what, error, onRetry }) {
  const [isOpen, setOpen] = useState(false);
  const { message, code, details } = /** @type {any} */ (error);
  return html`<div class="notice bad" role="alert">
    <${Warn} />
    <div>
      <p><strong>${what}</strong> ${message ?? String(error)}</p>
      <div class="actions">
        ${onRetry && html`<${Button} kind="slim" onClick=${onRetry}>Retry<//>`}
        ${code && html`<${Button} kind="quiet slim" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Details<//>`}
      </div>
      ${isOpen && html`<pre class="mono">${JSON.stringify({ code, details }, null, 2)}</pre>`}
    </div>
  </div>`;
}

/** @param {{ level?: "info" | "warn" | "bad", children?: any }} props */
export function Notice({ level = "info", children }) {
  return html`<div class=${`notice ${level}`}><${level === "info" ? Info : Warn} /><div>${children}</div></div>`;
}
