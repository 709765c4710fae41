import { signal } from "@preact/signals";
import { kept } from "./env.js";

/** @typedef {"system" | "light" | "dark"} Theme */

export const theme = signal(read());

export function startTheme() {
  apply(theme.value);
}

/** @param {Theme} next */
export function setTheme(next) {
  theme.value = next;
  if (next === "system") kept.remove("theme");
  else kept.set("theme", next);
  apply(next);
}

/** @param {Theme} next */
function apply(next) {
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

/** @returns {Theme} */
function read() {
  const stored = kept.get("theme");
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** @type {Promise<unknown> | undefined} */
let laterSheet;

/** A view, or a part of one, whose looks are no part of the first load. @template {{ default: any }} Module @param {Promise<Module>} view @returns {Promise<Module>} */
export async function styled(view) {
  laterSheet ??= loadSheet().catch((error) => {
    laterSheet = undefined;
    throw error;
  });
  const [module] = await Promise.all([view, laterSheet]);
  return module;
}

function loadSheet() {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("../later.css", import.meta.url).href;
    link.onload = resolve;
    link.onerror = reject;
    document.head.append(link);
  });
}

/** Do lines run from right to left? */
export function isRightToLeft() {
  return getComputedStyle(document.documentElement).direction === "rtl";
}

/** Space beyond the end of a box, where the line ends that it stands in. @param {DOMRect} box */
export function spaceAtEnd(box) {
  return isRightToLeft() ? box.left : innerWidth - box.right;
}

/** @param {string} query */
function watch(query) {
  const list = matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener("change", () => (matches.value = list.matches));
  return matches;
}

/** A phone: one column, list and detail are two pages. */
export const isNarrow = watch("(max-width: 759px)");
/** Room for a third column. */
export const isWide = watch("(min-width: 1100px)");
/** Fingers: Enter makes a new line. */
export const isCoarse = watch("(pointer: coarse)");
