import { useEffect, useState } from "preact/hooks";
import { html } from "../core/html.js";
import { isOnline } from "../core/store.js";
import { announce } from "./announce.js";
import { Button } from "./button.js";

/** @typedef {() => Promise<{ default: any }>} Load */

/** Parts that were fetched already; they are drawn at once. @type {Map<Load, any>} */
const fetched = new Map();

/**
 * A part of a view that is fetched when it is first seen; nothing stands in its place until then. One that could not be fetched says so, and is tried again with the
 * next connection.
 * @param {{ load: Load, onReady?: () => void, [prop: string]: unknown }} props `load`: the same function each time; `onReady`: called when it is drawn
 */
export function Later({ load, onReady, ...props }) {
  const [View, setView] = useState(() => fetched.get(load));
  const [isMissing, setMissing] = useState(false);
  const isReachable = isOnline.value;
  const fetchPart = () => {
    setMissing(false);
    void prefetch(load).then((found) => (found ? setView(() => found) : setMissing(true)));
  };
  useEffect(() => {
    if (View) onReady?.();
    else if (isReachable) fetchPart();
  }, [View, isReachable]);
  if (View) return html`<${View} ...${props} />`;
  return isMissing
    ? html`<p class="muted small">A part of the page could not be fetched. <${Button} kind="slim" onClick=${fetchPart}>Retry<//></p>`
    : null;
}

/** Fetches a part that will soon be seen, so that it is drawn at once. @param {Load} load @returns {Promise<any>} undefined when it could not be fetched */
export async function prefetch(load) {
  const found = await load().catch(() => undefined);
  if (found) fetched.set(load, found.default);
  return found?.default;
}

/**
 * Does something with a module that is fetched when it is first needed, and says so when it cannot be.
 * @template Module
 * @param {() => Promise<Module>} load @param {(module: Module) => unknown} use
 */
export async function withModule(load, use) {
  const found = await load().catch(() => undefined);
  if (found) use(found);
  else announce("This part of the page could not be fetched. Check the connection, or reload the page.");
}
