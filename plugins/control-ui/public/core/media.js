import { signal } from "@preact/signals";

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
