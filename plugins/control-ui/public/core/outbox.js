import { computed, signal } from "@preact/signals";
import { kept } from "./env.js";

/**
 * Messages between the press of Send and the stored answer. Kept in the browser under one name each, so that a reload, a lost connection
 * or a second tab loses none; re-sent under the same key, which the gateway runs once.
 *
 * @typedef {import("./turns.js").Outgoing} Outgoing
 */

const PREFIX = "out:";
const MAX_ENTRIES = 20;
const LIFE_MS = 86_400_000;

const entries = signal(load());

/** Bytes of files that go with messages of this tab; they are not kept in the browser. @type {Map<string, import("./attached.js").Attached[]>} */
const held = new Map();

/** @param {string} key @param {import("./attached.js").Attached[]} files */
export function holdFiles(key, files) {
  if (files.length > 0) held.set(key, files);
}

/** @param {string} key @returns {import("./attached.js").Attached[] | undefined} */
export function heldFiles(key) {
  return held.get(key);
}

export const outbox = computed(() => entries.value);
export const isOutboxFull = computed(() => entries.value.length >= MAX_ENTRIES);

/** @param {string} sessionKey */
export function outgoingOf(sessionKey) {
  return entries.value.filter((e) => e.sessionKey === sessionKey);
}

/** @param {Outgoing} entry */
export function putOutgoing(entry) {
  kept.set(PREFIX + entry.key, JSON.stringify(entry));
  const others = entries.value.filter((e) => e.key !== entry.key);
  entries.value = [...others, entry].sort((a, b) => a.at - b.at);
}

/** @param {string} key @param {Partial<Outgoing>} change */
export function changeOutgoing(key, change) {
  const entry = entries.value.find((e) => e.key === key);
  if (entry) putOutgoing({ ...entry, ...change });
}

/** @param {string} key */
export function dropOutgoing(key) {
  held.delete(key);
  kept.remove(PREFIX + key);
  if (entries.value.some((e) => e.key === key)) entries.value = entries.value.filter((e) => e.key !== key);
}

/** @returns {Outgoing[]} */
function load() {
  /** @type {Outgoing[]} */
  const found = [];
  for (const name of kept.names(PREFIX)) {
    const entry = parse(kept.get(name));
    if (entry && Date.now() - entry.at < LIFE_MS && found.length < MAX_ENTRIES) found.push(entry);
    else kept.remove(name);
  }
  return found.sort((a, b) => a.at - b.at);
}

/** @param {string | null} stored @returns {Outgoing | undefined} */
function parse(stored) {
  try {
    const value = JSON.parse(stored ?? "");
    return typeof value?.key === "string" && typeof value.text === "string" && typeof value.sessionKey === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
