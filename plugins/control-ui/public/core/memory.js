import { signal } from "@preact/signals";
import { onEvent, onOnline, request } from "./conn.js";
import { withProgress } from "./memory-facts.js";
import { isOnline } from "./store.js";

/**
 * State of the memory view: agents, the state of each one's memory, work in progress, and results.
 *
 * @typedef {import("./memory-facts.js").MemoryStatus} MemoryStatus
 * @typedef {import("./memory-facts.js").Progress} Progress
 * @typedef {import("./memory-facts.js").Hit} Hit
 * @typedef {{ status?: MemoryStatus, error?: unknown, at?: number }} Known
 * @typedef {import("./memory-facts.js").Dreaming} Dreaming
 * @typedef {{ results: Hit[], searchMode?: string, partial?: boolean, unavailable?: boolean, error?: string, warning?: string,
 *   action?: string, degraded?: boolean }} Answer
 * @typedef {{ name: string, query: string, isBusy: boolean, answer?: Answer, error?: unknown }} Search
 */

/** Undefined until the first answer. */
export const agents = signal(/** @type {Array<{ id: string, name?: string }> | undefined} */ (undefined));
const known = signal(/** @type {ReadonlyMap<string, Known>} */ (new Map()));
const progress = signal(/** @type {ReadonlyMap<string, Progress>} */ (new Map()));
export const search = signal(/** @type {Search} */ ({ name: "", query: "", isBusy: false }));

const HITS = 20;
/** The index changes in bursts: one look after the last change is enough. */
const READ_PAUSE_MS = 300;

onOnline(() => {
  void readAgents();
  for (const agentId of known.value.keys()) void readMemory(agentId);
});
onEvent("memory.progress", (event) => {
  const agentId = String(event.agentId);
  progress.value = new Map(progress.value).set(agentId, withProgress(progress.value.get(agentId), event, Date.now()));
  if (event.phase === "done" || event.phase === "error") readSoon(agentId);
});

/** @param {string} agentId @returns {Known} */
export function memoryOf(agentId) {
  return known.value.get(agentId) ?? {};
}

const dreams = signal(/** @type {ReadonlyMap<string, Dreaming>} */ (new Map()));

/** State of dreaming, once it was read. @param {string} agentId */
export function dreamingOf(agentId) {
  return dreams.value.get(agentId);
}

/** A gateway without dreaming, or an agent without a memory, has none to show. @param {string} agentId */
export async function readDreaming(agentId) {
  if (!isOnline.value) return;
  try {
    dreams.value = new Map(dreams.value).set(agentId, await request("memory.dreaming.status", { agentId }));
  } catch {
    dreams.value = new Map([...dreams.value].filter(([id]) => id !== agentId));
  }
}

/** Sweeps now. @param {string} agentId */
export async function sweepNow(agentId) {
  const answer = await request("memory.dreaming.run", { agentId }, { onAccepted: () => undefined });
  await readDreaming(agentId);
  return answer;
}

/** @param {string} agentId */
export function progressOf(agentId) {
  return progress.value.get(agentId);
}

/** Reads the state; with `deep` the embedding provider is asked, too. @param {string} agentId @param {{ deep?: boolean }} [options] */
export async function readMemory(agentId, { deep = false } = {}) {
  if (!known.value.has(agentId)) keep(agentId, {});
  if (!isOnline.value) return;
  try {
    const status = await request("memory.status", { agentId, ...(deep ? { deep } : {}) });
    keep(agentId, { status, at: Date.now() });
  } catch (error) {
    if (isOnline.value) keep(agentId, { ...memoryOf(agentId), error });
  }
}

/** The same question again is only asked again when it failed. @param {string} agentId @param {string} query @param {{ again?: boolean }} [options] */
export async function searchMemory(agentId, query, { again = false } = {}) {
  const name = `${agentId}\n${query}`;
  const before = search.value;
  if (before.name === name && !again && (before.isBusy || before.answer)) return;
  if (query.trim() === "") {
    search.value = { name, query, isBusy: false };
    return;
  }
  if (!isOnline.value) return;
  search.value = { ...before, name, query, isBusy: true, error: undefined };
  try {
    const answer = await request("memory.search", { agentId, query, maxResults: HITS });
    if (search.value.name === name) search.value = { name, query, isBusy: false, answer };
  } catch (error) {
    if (search.value.name === name) search.value = { name, query, isBusy: false, error };
  }
}

/** Brings the index up to date, or rebuilds it. Resolves when that is done. @param {string} agentId @param {{ force: boolean }} options */
export async function indexMemory(agentId, { force }) {
  await request("memory.index", { agentId, ...(force ? { force } : {}) }, { onAccepted: () => undefined });
  await readMemory(agentId);
}

/** @param {string} agentId */
export async function resetMemory(agentId) {
  const answer = await request("memory.reset", { agentId });
  search.value = { name: "", query: "", isBusy: false };
  await readMemory(agentId);
  return answer.removed === true;
}

async function readAgents() {
  try {
    agents.value = (await request("agents.list")).agents;
  } catch {
    agents.value ??= []; // then only the default agent can be chosen
  }
}

/** @type {Map<string, ReturnType<typeof setTimeout>>} */
const soon = new Map();

/** @param {string} agentId */
function readSoon(agentId) {
  clearTimeout(soon.get(agentId));
  const read = () => {
    soon.delete(agentId);
    if (known.value.has(agentId)) void readMemory(agentId);
  };
  soon.set(agentId, setTimeout(read, READ_PAUSE_MS));
}

/** @param {string} agentId @param {Known} value */
function keep(agentId, value) {
  known.value = new Map(known.value).set(agentId, value);
}
