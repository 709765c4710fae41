import { useEffect, useState } from "preact/hooks";
import { clock } from "../core/format.js";
import { html } from "../core/html.js";
import { isOnline, lastOnlineAt } from "../core/store.js";
import { texts } from "../texts/parts.js";
import { Button, Command } from "./button.js";
import { Failure, Notice, Waiting } from "./states.js";

/** @typedef {ReturnType<typeof import("../core/reading.js").createReading>} Reading */

const LONG_WAIT_MS = 8_000;

/**
 * Heading of a view with a sentence about what it shows, which says how old it is while there is no connection.
 * @param {{ title: string, sentence?: any, readAt?: number, children?: any }} props `children`: what the view is for, at the right
 */
export function Head({ title, sentence, readAt = 0, children }) {
  return html`<div class="head">
    <div class="stack tight-head">
      <h1>${title}</h1>
      ${sentence && html`<p class="muted">${sentence}${!isOnline.value && texts.asOf(clock(readAt || lastOnlineAt.value))}</p>`}
    </div>
    ${children}
  </div>`;
}

/**
 * State of a reading that has no answer yet, or whose last question failed; nothing otherwise.
 * @param {{ reading: Reading, onRetry: () => void, what: string, plugin?: string, rows?: number }} props `what`: in the plural, such as `devices`
 */
export function Standing({ reading, onRetry, what, plugin, rows = 4 }) {
  const failure = reading.failure.value;
  if (failure) return html`<${Trouble} error=${failure} what=${what} plugin=${plugin} onRetry=${onRetry} />`;
  return reading.answer.value === undefined ? html`<${Loading} rows=${rows} onCancel=${reading.cancel} />` : null;
}

/**
 * A gateway without the plugin, and a sign-in without the right, are no faults: one line says so. Everything else is a failure that can be tried again.
 * @param {{ error: unknown, what: string, plugin?: string | undefined, onRetry: () => void }} props
 */
export function Trouble({ error, what, plugin, onRetry }) {
  const { code, detailCode, message = "" } = /** @type {any} */ (error);
  if (code === "FORBIDDEN" || detailCode === "FORBIDDEN" || /missing scope/.test(message)) {
    return html`<${Notice}>${texts.signNotAllowed(what)}<//>`;
  }
  if (plugin !== undefined && /unknown method/.test(message)) {
    return html`<${Notice}><p>${texts.pluginNotRunning(plugin)}</p><${Command} command=${`svc plugins enable ${plugin}`} /><//>`;
  }
  return html`<${Failure} what=${texts.couldNotRead(what)} error=${error} onRetry=${onRetry} />`;
}

/** @param {{ rows: number, onCancel: () => void }} props */
function Loading({ rows, onCancel }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_WAIT_MS);
    return () => clearTimeout(timer);
  }, []);
  return html`<section class="panel"><div class="inside padded stack">
    <${Waiting} rows=${rows} />
    ${isLong && html`<p class="muted small line" role="status">${texts.stillWaiting} <${Button} kind="slim" onClick=${onCancel}>${texts.cancel}<//></p>`}
  </div></section>`;
}
