import { computed, signal } from "@preact/signals";
import { texts } from "../texts/frame.js";
import { onEvent, onOnline, request } from "./conn.js";
import { kept, newId } from "./env.js";
import { defaultAgentId, defaultModel, mainSessionKey } from "./store.js";

/**
 * The session list: the newest 50 for every view, and one filtered list for the sessions view.
 *
 * @typedef {{ key: string, sessionId?: string, agentId: string, kind?: string, channel?: string, label?: string, displayName?: string,
 *   derivedTitle?: string, lastMessagePreview?: string, createdAt?: number, updatedAt: number, lastInteractionAt?: number, status?: string,
 *   hasActiveRun?: boolean, activeRunIds?: string[], lastRunId?: string, totalTokens?: number, archived?: boolean, pinned?: boolean,
 *   unread?: boolean, model?: string, startedAt?: number }} SessionRow
 * @typedef {{ search: string, filter: "all" | "running" | "unread" | "archived" }} ListQuery
 */

const PAGE = 50;
/** Rows of each further page of the filtered list. */
const NEXT_PAGE = 200;
/** Rows kept in this tab; beyond it the longest untouched ones go. */
const MAX_ROWS = 6_000;

/** Every row known, by key. */
const rows = signal(/** @type {ReadonlyMap<string, SessionRow>} */ (new Map()));
const recentKeys = signal(/** @type {string[] | undefined} */ (undefined));
export const recentError = signal(/** @type {unknown} */ (undefined));

export const found = {
  query: signal(/** @type {ListQuery} */ ({ search: "", filter: "all" })),
  keys: signal(/** @type {string[] | undefined} */ (undefined)),
  total: signal(0),
  hasMore: signal(false),
  isLoading: signal(false),
  error: signal(/** @type {unknown} */ (undefined)),
};

/** Newest first; undefined until the first answer. */
export const recent = computed(() => {
  const keys = recentKeys.value;
  return keys && byTime(keys.flatMap((key) => rows.value.get(key) ?? []).filter((row) => !row.archived));
});

export const running = computed(() => [...rows.value.values()].filter((row) => row.hasActiveRun));
export const unreadCount = computed(() => [...rows.value.values()].filter((row) => row.unread && !row.archived).length);

/** @param {string} key @returns {SessionRow | undefined} */
export function sessionRow(key) {
  return rows.value.get(key);
}

/** Title of a session for people. @param {{ key: string } & Partial<SessionRow>} row */
export function titleOf(row) {
  const own = row.label || row.derivedTitle || row.displayName;
  if (own) return own;
  if (row.key === mainSessionKey.value) return texts.main;
  return /:chat-[0-9a-f]+$/.test(row.key) ? texts.newSession : row.key.replace(/^agent:[^:]+:/, "");
}

/** Title of any key, also of one without a row. @param {string} key */
export function titleOfKey(key) {
  return titleOf(rows.value.get(key) ?? { key });
}

/** A key nobody has used; the session begins with its first message. */
export function newSessionKey() {
  return `agent:${defaultAgentId.value}:chat-${newId().slice(0, 10)}`;
}

/** Session of the last open chat in this browser. */
export function lastChatKey() {
  return kept.get("last-chat") ?? undefined;
}

/** @param {string} key */
export function rememberChat(key) {
  kept.set("last-chat", key);
}

/** Ends what a session is doing. @param {string} key */
export function stopSession(key) {
  return request("chat.abort", { sessionKey: key });
}

export function startSessions() {
  onOnline(() => void loadRecent());
  onEvent("sessions.changed", changed);
}

/** Shows rows that were kept from an earlier connection. @param {SessionRow[]} list */
export function restoreRecent(list) {
  keep(list);
  recentKeys.value = list.map((row) => row.key);
}

async function loadRecent() {
  try {
    const answer = await request("sessions.subscribe", { limit: PAGE, includeDerivedTitles: true, includeLastMessage: true });
    const { sessions: list, defaults } = answer.list;
    keep(list);
    defaultModel.value = defaults?.modelProvider ? { provider: defaults.modelProvider, model: defaults.model ?? "" } : undefined;
    recentKeys.value = list.map((/** @type {SessionRow} */ row) => row.key);
    recentError.value = undefined;
    if (found.keys.value) await loadFound();
  } catch (error) {
    recentError.value = error;
  }
}

/** @param {ListQuery} query */
export function setQuery(query) {
  const before = found.query.value;
  if (found.keys.value && before.search === query.search && before.filter === query.filter) return;
  found.query.value = query;
  void loadFound();
}

/** @type {AbortController | undefined} */
let searching;

/** The filtered list from its start, or its next page. @param {{ more?: boolean }} [options] */
export async function loadFound({ more = false } = {}) {
  searching?.abort();
  searching = new AbortController();
  const { signal: stop } = searching;
  const { search, filter } = found.query.value;
  const offset = more ? (found.keys.value?.length ?? 0) : 0;
  found.isLoading.value = true;
  try {
    const params = {
      limit: more ? NEXT_PAGE : PAGE,
      offset,
      includeDerivedTitles: true,
      includeLastMessage: true,
      archived: filter === "archived",
    };
    const answer = await request("sessions.list", search.trim() === "" ? params : { ...params, search: search.trim() }, { signal: stop });
    if (stop.aborted) return;
    keep(answer.sessions);
    const keys = answer.sessions.map((/** @type {SessionRow} */ row) => row.key);
    found.keys.value = more ? [...new Set([...(found.keys.value ?? []), ...keys])] : keys;
    found.total.value = answer.totalCount ?? keys.length;
    found.hasMore.value = answer.hasMore === true;
    found.error.value = undefined;
  } catch (error) {
    if (!stop.aborted) found.error.value = error;
  } finally {
    if (!stop.aborted) found.isLoading.value = false;
  }
}

/**
 * @param {SessionRow} row
 * @param {Record<string, unknown>} change
 */
export async function patchSession(row, change) {
  const answer = await request("sessions.patch", { key: row.key, ...expected(row), ...change });
  if (answer.entry) keep([{ ...row, ...answer.entry }]);
}

/** A new, empty transcript under the same key. @param {SessionRow} row */
export async function resetSession(row) {
  const answer = await request("sessions.reset", { key: row.key, reason: "reset", ...expected(row) });
  if (answer.entry) keep([{ ...row, derivedTitle: undefined, lastMessagePreview: undefined, ...answer.entry }]);
}

/** @param {SessionRow} row */
export async function deleteSession(row) {
  await request("sessions.delete", { key: row.key, ...expected(row) });
  forget(row.key);
}

/** Messages a deletion would lose. @param {SessionRow} row @returns {Promise<number | undefined>} */
export async function countMessages(row) {
  const answer = await request("chat.history", { sessionKey: row.key, limit: 1 }).catch(() => undefined);
  return answer?.totalMessages;
}

/** @param {any} payload */
function changed(payload) {
  const key = payload.sessionKey;
  if (!key) return void loadRecent();
  if (payload.reason === "delete") return forget(key);
  if (!payload.session) return;
  keep([payload.session]);
  if (recentKeys.value && !recentKeys.value.includes(key)) recentKeys.value = [key, ...recentKeys.value];
  if (found.keys.value && !found.keys.value.includes(key) && isUnfiltered()) found.keys.value = [key, ...found.keys.value];
}

function isUnfiltered() {
  const { search, filter } = found.query.value;
  return search.trim() === "" && filter === "all";
}

/** @param {SessionRow[]} list */
export function keep(list) {
  const next = new Map(rows.value);
  for (const row of list) {
    next.delete(row.key);
    next.set(row.key, row);
  }
  for (const key of next.keys()) {
    if (next.size <= MAX_ROWS) break;
    next.delete(key);
  }
  rows.value = next;
}

/** @param {string} key */
function forget(key) {
  const next = new Map(rows.value);
  next.delete(key);
  rows.value = next;
  recentKeys.value = recentKeys.value?.filter((k) => k !== key);
  if (found.keys.value?.includes(key)) {
    found.keys.value = found.keys.value.filter((k) => k !== key);
    found.total.value = Math.max(0, found.total.value - 1);
  }
}

/** @param {SessionRow} row */
function expected(row) {
  return row.sessionId === undefined ? {} : { expectedSessionId: row.sessionId };
}

/** Pinned first, then the newest. @param {SessionRow[]} list */
export function byTime(list) {
  return [...list].sort((a, b) => Number(b.pinned ?? false) - Number(a.pinned ?? false) || b.updatedAt - a.updatedAt);
}
