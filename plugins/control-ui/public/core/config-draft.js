import { effect } from "@preact/signals";
import { base, DRAFT, edits, foreign, issues, schema } from "./config.js";
import { carriedOver, keepable } from "./config-diff.js";
import { formatPath } from "./config-paths.js";
import { ofTab } from "./env.js";

/** Edits that were not saved: they outlive a reload of the tab, and go on top of what somebody else wrote. */

const KEEP_AFTER_MS = 300;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let pending;

effect(() => {
  void edits.value;
  clearTimeout(pending);
  pending = setTimeout(keep, KEEP_AFTER_MS);
});
addEventListener("pagehide", keep);

/** Secrets are not kept. */
function keep() {
  const model = schema.answer.peek();
  if (!model) return;
  const list = keepable(edits.peek(), base.peek()?.parsed ?? {}, model);
  if (list.length === 0) ofTab.remove(DRAFT);
  else ofTab.set(DRAFT, JSON.stringify(list));
}

let isRestored = false;

/** Puts what the tab has kept on top of the config, once. */
export function restore() {
  if (isRestored) return;
  isRestored = true;
  try {
    const kept = /** @type {import("./config-types.js").Edit[]} */ (JSON.parse(ofTab.get(DRAFT) ?? "[]"));
    const added = new Map(kept.map((edit) => [formatPath(edit.path), edit]));
    edits.value = carriedOver(new Map([...added, ...edits.value]), base.value?.parsed);
  } catch {
    ofTab.remove(DRAFT);
  }
}

/** Puts the edits on top of what somebody else wrote. */
export function takeForeign() {
  const found = foreign.value;
  if (!found) return;
  base.value = found;
  foreign.value = undefined;
  edits.value = carriedOver(edits.value, found.parsed);
}

export function dropAll() {
  edits.value = new Map();
  issues.value = [];
  takeForeign();
}
