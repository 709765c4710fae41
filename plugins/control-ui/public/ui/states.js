import { useEffect, useState } from "preact/hooks";
import { base } from "../core/env.js";
import { html } from "../core/html.js";
import { hasNewBuild, isOnline } from "../core/store.js";
import { texts } from "../texts/frame.js";
import { Button } from "./button.js";
import { Info, Warn } from "./icons.js";

/** Grey rows while something loads. @param {{ rows?: number, label?: string }} props */
export function Waiting({ rows = 4, label = texts.loading }) {
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
        ${onRetry && html`<${Button} kind="slim" onClick=${onRetry}>${texts.retry}<//>`}
        ${code && html`<${Button} kind="quiet slim" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${texts.details}<//>`}
      </div>
      ${isOpen && html`<pre class="mono">${JSON.stringify({ code, details }, null, 2)}</pre>`}
    </div>
  </div>`;
}

/** @param {{ level?: "info" | "warn" | "bad", children?: any }} props */
export function Notice({ level = "info", children }) {
  return html`<div class=${`notice ${level}`}><${level === "info" ? Info : Warn} /><div>${children}</div></div>`;
}

/** @typedef {() => Promise<{ default: any }>} Load */

/** Parts that were fetched already; they are drawn at once. @type {Map<Load, any>} */
const fetched = new Map();

/**
 * A part that is fetched when it is first seen; nothing stands in its place until then, grey rows in that of a page. One that could not be fetched says so, and
 * is tried again with the next connection.
 * @param {{ load: Load, onReady?: () => void, isPage?: boolean, [prop: string]: unknown }} props `load`: the same function each time; `onReady`: called when it
 *   is drawn
 */
export function Later({ load, onReady, isPage = false, ...props }) {
  const [View, setView] = useState(() => fetched.get(load));
  const [isMissing, setMissing] = useState(false);
  const isReachable = isOnline.value;
  const fetchPart = () => {
    setMissing(false);
    void prefetch(load).then((found) => (found ? setView(() => found) : setMissing(true)));
  };
  useEffect(() => {
    if (View) onReady?.();
    else fetchPart();
  }, [View, isReachable]);
  if (View) return html`<${View} ...${props} />`;
  const missing =
    isMissing && html`<p class="muted small">${texts.partPageCould} <${Button} kind="slim" onClick=${fetchPart}>${texts.retry}<//></p>`;
  return isPage ? html`<div class="page">${missing || html`<${Waiting} />`}</div>` : missing || null;
}

/** Fetches a part that will soon be seen, so that it is drawn at once. @param {Load} load @returns {Promise<any>} undefined when it could not be fetched */
export async function prefetch(load) {
  try {
    fetched.set(load, (await load()).default);
  } catch {
    void noteMissingFile();
  }
  return fetched.get(load);
}

/** A file that is missing while the gateway answers belongs to another build; a gateway that is away has none to give. */
async function noteMissingFile() {
  const page = await fetch(base, { cache: "no-store" }).catch(() => undefined);
  if (page?.ok) hasNewBuild.value = true;
}
