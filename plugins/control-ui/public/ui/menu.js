import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../core/html.js";
import { isRightToLeft } from "../core/look.js";

/**
 * @typedef {{ word: string, icon: any, href?: string, blocked?: string | undefined, isDanger?: boolean,
 *   run?: () => unknown }} Entry
 */

/** The one open menu of this kind; it is made when it is opened and gone when it is closed. @type {HTMLElement | undefined} */
let host;

/** Opens a menu at a button; the focus goes into it and comes back. @param {HTMLElement} button @param {string} label @param {readonly Entry[]} entries */
export function openMenu(button, label, entries) {
  close();
  const made = document.createElement("div");
  host = made;
  // Among the landmarks, so that a screen reader finds it.
  (document.getElementById("main") ?? document.body).append(made);
  render(html`<${Menu} button=${button} label=${label} entries=${entries} onClose=${() => made === host && close()} />`, made);
}

function close() {
  if (!host) return;
  const old = host;
  host = undefined;
  render(null, old);
  old.remove();
}

/** @param {{ button: HTMLElement, label: string, entries: readonly Entry[], onClose: () => void }} props */
function Menu({ button, label, entries, onClose }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const menu = /** @type {HTMLElement} */ (ref.current);
    menu.showPopover();
    place(menu, button);
    items(menu)[0]?.focus();
  }, []);
  /** @param {any} event */
  const toggled = (event) => {
    if (event.newState !== "closed") return;
    if (ref.current?.contains(document.activeElement) || document.activeElement === document.body) button.focus();
    onClose();
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = items(/** @type {HTMLElement} */ (ref.current));
    all[(all.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step + all.length) % all.length]?.focus();
  };
  return html`<div ref=${ref} popover class="menu" role="menu" aria-label=${label} onToggle=${toggled} onKeyDown=${key}>${entries.map(
    (entry) => html`<${Item} key=${entry.word} entry=${entry} onDone=${() => ref.current?.hidePopover()} />`,
  )}</div>`;
}

/** @param {{ entry: Entry, onDone: () => void }} props */
function Item({ entry: { word, icon: Icon, href, blocked, isDanger, run }, onDone }) {
  if (href) return html`<a role="menuitem" href=${href} onClick=${onDone}><${Icon} />${word}</a>`;
  const act = () => {
    if (blocked) return;
    onDone();
    run?.();
  };
  return html`<button type="button" role="menuitem" class=${isDanger ? "danger" : undefined} aria-disabled=${blocked ? "true" : undefined} title=${blocked} onClick=${act}><${Icon} />${word}</button>`;
}

/** @param {HTMLElement} menu @returns {HTMLElement[]} */
function items(menu) {
  return [...menu.querySelectorAll("[role=menuitem]")].map((item) => /** @type {HTMLElement} */ (item));
}

/** Below the button, or above it where there is no room, inside the window. @param {HTMLElement} menu @param {HTMLElement} button */
function place(menu, button) {
  const at = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  menu.style.top = `${Math.max(8, at.bottom + height + 8 > innerHeight ? at.top - height - 4 : at.bottom + 4)}px`;
  const start = isRightToLeft() ? at.right - width : at.left;
  menu.style.left = `${Math.max(8, Math.min(start, innerWidth - width - 8))}px`;
}
