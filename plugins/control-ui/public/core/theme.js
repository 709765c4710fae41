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
