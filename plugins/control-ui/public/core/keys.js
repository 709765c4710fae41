import { signal } from "@preact/signals";
import { chatAddress, go, route } from "./router.js";
import { lastChatKey, newSessionKey, recent } from "./sessions.js";
import { mainSessionKey } from "./store.js";

/** Keyboard: letters act outside of fields only; Ctrl/⌘ K acts everywhere. */

export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);
export const isNeedsOpen = signal(false);

/** Address that Chat leads to: the last session, else the main one. */
export function chatHome() {
  return chatAddress(lastChatKey() ?? mainSessionKey.value);
}

export function startNewSession() {
  go(chatAddress(newSessionKey()));
}

/** @type {Record<string, () => void>} */
const afterG = {
  o: () => go("#/overview"),
  c: () => go(chatHome()),
  s: () => go("#/sessions"),
  m: () => go("#/memory"),
  n: () => go("#/channels"),
  w: () => go("#/webhooks"),
  p: () => go("#/plugins"),
  d: () => go("#/devices"),
  a: () => go("#/agents"),
  e: () => go("#/models"),
  t: () => go("#/schedule"),
  v: () => go("#/mcp"),
  f: () => go("#/config"),
  u: () => go("#/usage"),
  l: () => go("#/logs"),
};

/** @type {Record<string, () => void>} */
const single = {
  n: startNewSession,
  y: () => (isNeedsOpen.value = true),
  "?": () => (isHelpOpen.value = true),
  "/": focusSearch,
};

export function startKeys() {
  let waitsForSecond = false;
  addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      isPaletteOpen.value = !isPaletteOpen.value;
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      return otherSession(event.key === "ArrowUp" ? -1 : 1);
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
    const act = waitsForSecond ? afterG[event.key] : single[event.key];
    waitsForSecond = !waitsForSecond && event.key === "g";
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** @param {number} step */
function otherSession(step) {
  const list = recent.value ?? [];
  const at = list.findIndex((row) => route.value.view === "chat" && row.key === route.value.rest);
  const next = list[at < 0 ? 0 : at + step];
  if (next) go(chatAddress(next.key));
}

function focusSearch() {
  const field = /** @type {HTMLElement | null} */ (document.querySelector("main [type=search]"));
  if (field) field.focus();
  else isPaletteOpen.value = true;
}

/** @param {EventTarget | null} target */
function isField(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
