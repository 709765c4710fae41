import { computed, signal } from "@preact/signals";
import { withEdit, withEdits } from "./config-edits.js";
import { modelOf } from "./config-facts.js";
import { isWithin, parsePath } from "./config-paths.js";
import { request } from "./conn.js";
import { createReading } from "./reading.js";

/**
 * State of the config view. Edits lie on top of the config as it was read; another one that comes meanwhile waits until somebody takes it.
 *
 * @import { Edit, Edits, Path } from "./config-types.js"
 * @typedef {import("./config-write.js").Config} Config
 */

/** Name of what the tab keeps. */
export const DRAFT = "config-draft";

/** The config that the edits lie on. */
export const base = signal(/** @type {Config | undefined} */ (undefined));
/** The config that somebody else has written since. */
export const foreign = signal(/** @type {Config | undefined} */ (undefined));
export const edits = signal(/** @type {Edits} */ (new Map()));
/** Issues that the gateway named at the last save. */
export const issues = signal(/** @type {import("./config-write.js").Issue[]} */ ([]));
/** A save is under way: what it writes is nobody else's. */
export const isSaving = signal(false);
/** Text of the whole file that was typed and not applied; it may hold secrets, so no storage has it. */
export const rawDraft = signal(/** @type {string | undefined} */ (undefined));

export const schema = createReading(async () => {
  const answer = await request("config.schema");
  return modelOf(answer.schema, answer.uiHints);
});
export const config = createReading(() => /** @type {Promise<Config>} */ (request("config.get")));

/** The config as it would be after a save. */
export const mine = computed(() => withEdits(base.value?.parsed, edits.value));
export const hasEdits = computed(() => edits.value.size > 0 || rawDraft.value !== undefined);
/** Reads the config. Nothing that was typed is overwritten. */
export async function look() {
  await config.read();
  const found = config.answer.value;
  if (!found || isSaving.value) return;
  if (found.hash === base.value?.hash) base.value = found;
  else if (base.value && hasEdits.value) foreign.value = found;
  else base.value = found;
}

/** @param {Edit} edit */
export function setEdit(edit) {
  edits.value = withEdit(edits.value, edit, base.value?.parsed);
  // An issue of the value before says nothing about this one.
  issues.value = issues.value.filter(({ path }) => !isWithin(parsePath(path), edit.path));
}

/** Takes an edit back, with all below it. @param {Path} path */
export function dropEdit(path) {
  edits.value = new Map([...edits.value].filter(([, edit]) => !isWithin(edit.path, path)));
}
