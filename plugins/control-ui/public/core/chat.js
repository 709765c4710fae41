import { batch, signal } from "@preact/signals";
import { onEvent, onOnline, request } from "./conn.js";
import { ofTab } from "./env.js";
import { keptMessages } from "./kept-copy.js";
import { dropOutgoing, outgoingOf } from "./outbox.js";
import { keep, patchSession, rememberChat, sessionRow } from "./sessions.js";
import { isOnline } from "./store.js";
import { isFromPerson, mergeMessages } from "./turns.js";

/**
 * The open chats of this tab: their stored messages and the runs that are writing into them. How runs grow is in `chat-runs.js`, how
 * messages leave is in `delivery.js`.
 *
 * @typedef {import("./turns.js").Message} Message
 * @typedef {import("./turns.js").LiveRun} LiveRun
 * @typedef {import("./branch-facts.js").BranchPoint} BranchPoint
 * @typedef {ReturnType<typeof create>} Chat
 */

const PAGE = 200;
/** Chats kept in memory; opening one more lets the longest unused one go. */
const MAX_CHATS = 8;
/** Messages kept of one chat while it is read from its end. */
const MAX_MESSAGES = 2_000;
/** Failures shown below their messages; they are not part of the stored history. */
const MAX_NOTES = 10;
/** Pages read back for a message that an address names. */
const MAX_PAGES_BACK = 50;

/** @type {Map<string, Chat>} */
const chats = new Map();

onOnline(() => {
  for (const chat of chats.values()) void join(chat);
});
onEvent("sessions.changed", (event) => {
  for (const one of chats.values()) if (changesBranches(one, event)) void readBranches(one);
  const chat = chats.get(event.sessionKey);
  if (chat && (event.reason === "reset" || event.reason === "delete")) refresh(chat).catch((error) => showError(chat, error));
});
// A reload finds every chat where it was.
addEventListener("pagehide", () => {
  for (const chat of chats.values()) ofTab.set(`position:${chat.key}`, JSON.stringify(chat.position));
});

/** The chat of a session if it is open. @param {string} key */
export function findChat(key) {
  return chats.get(key);
}

/** @param {string} key */
function create(key) {
  return {
    key,
    messages: signal(/** @type {Message[]} */ ([])),
    live: signal(/** @type {LiveRun[]} */ ([])),
    sessionId: /** @type {string | undefined} */ (undefined),
    total: signal(0),
    hasOlder: signal(false),
    /** Messages that forked sessions have others in the place of. */
    branches: signal(/** @type {BranchPoint[]} */ ([])),
    isLoaded: signal(false),
    isLoadingOlder: signal(false),
    /** The messages were kept by this browser, with gaps towards what is stored. */
    isRestored: false,
    /** The page further back that is being read. */
    olderPage: /** @type {Promise<void> | undefined} */ (undefined),
    error: signal(/** @type {unknown} */ (undefined)),
    /** Reading position: at the end, or at a turn and this far below the top of the view. */
    position: readPosition(key),
  };
}

/** @param {string} key @returns {{ isFollowing: boolean, turn: string, offset: number }} */
function readPosition(key) {
  const atEnd = { isFollowing: true, turn: "", offset: 0 };
  try {
    return { ...atEnd, ...JSON.parse(ofTab.get(`position:${key}`) ?? "{}") };
  } catch {
    return atEnd;
  }
}

/** The chat of a session, loading it when it is new. @param {string} key @returns {Chat} */
export function openChat(key) {
  const known = chats.get(key);
  const chat = known ?? create(key);
  chats.delete(key);
  chats.set(key, chat);
  rememberChat(key);
  if (!known && isOnline.value) void join(chat);
  if (!known && !isOnline.value) restore(chat);
  for (const [oldKey, old] of chats) {
    if (chats.size <= MAX_CHATS) break;
    if (old.live.value.length > 0 || oldKey === key) continue;
    chats.delete(oldKey);
    if (isOnline.value) request("sessions.messages.unsubscribe", { key: oldKey }).catch(() => undefined);
  }
  return chat;
}

/** Without a connection a chat begins with what this browser was told to keep of it. @param {Chat} chat */
function restore(chat) {
  const messages = keptMessages(chat.key);
  if (!messages) return;
  chat.isRestored = true;
  chat.messages.value = messages;
  chat.isLoaded.value = true;
}

/** Subscribes first, then reads: what happens in between is seen twice, never lost. @param {Chat} chat */
async function join(chat) {
  try {
    await request("sessions.messages.subscribe", { key: chat.key });
    await refresh(chat);
    void readBranches(chat);
    const row = sessionRow(chat.key);
    if (row?.unread) await patchSession(row, { unread: false }).catch(() => undefined);
  } catch (error) {
    showError(chat, error);
  }
}

/** Without an answer the chat is read as if it had none. @param {Chat} chat */
async function readBranches(chat) {
  const answer = await request("sessions.branches", { key: chat.key }).catch(() => undefined);
  chat.branches.value = answer?.points ?? [];
}

/** A session of the same conversation was forked, is gone, or has begun anew. @param {Chat} chat @param {{ reason?: string, sessionKey: string, session?: { parentSessionKey?: string } }} event */
function changesBranches({ key, branches }, { reason, sessionKey, session }) {
  if (reason === "create")
    return session?.parentSessionKey !== undefined && (branches.value.length > 0 || session.parentSessionKey === key);
  const isGone = reason === "delete" || reason === "reset";
  return isGone && (sessionKey === key || branches.value.some((point) => point.branches.some((one) => one.key === sessionKey)));
}

/** A lost connection is told by the header. @param {Chat} chat @param {unknown} error */
function showError(chat, error) {
  if (isOnline.value) chat.error.value = error;
}

/** Tries again after an error. @param {Chat} chat */
export function reload(chat) {
  chat.error.value = undefined;
  void join(chat);
}

/** The newest page again, merged into what is there; runs that ended meanwhile are settled by it. @param {Chat} chat */
async function refresh(chat) {
  const answer = await request("chat.history", { sessionKey: chat.key, limit: PAGE, maxChars: 200_000 });
  batch(() => {
    if (chat.isRestored || (chat.sessionId !== undefined && answer.sessionId !== chat.sessionId)) chat.messages.value = [];
    chat.isRestored = false;
    const isFirst = chat.messages.value.length === 0;
    chat.sessionId = answer.sessionId;
    chat.total.value = answer.totalMessages;
    chat.messages.value = mergeMessages(chat.messages.value, answer.messages).slice(-MAX_MESSAGES);
    if (isFirst) chat.hasOlder.value = answer.hasMore;
    // A conversation of long ago is in no list that was read.
    if (answer.sessionInfo && !sessionRow(chat.key)) keep([answer.sessionInfo]);
    adopt(chat, answer.inFlightRun);
    for (const entry of outgoingOf(chat.key)) if (isStored(chat, entry.key)) dropOutgoing(entry.key);
    chat.isLoaded.value = true;
    chat.error.value = undefined;
  });
}

/**
 * @param {Chat} chat
 * @param {{ runId: string, text: string, startedAt: number } | undefined} inFlight the run that is writing now, if any
 */
function adopt(chat, inFlight) {
  const running = chat.live.value.filter((run) => run.state !== "ended" && run.runId === inFlight?.runId);
  const failed = chat.live.value.filter((run) => run.note).slice(-MAX_NOTES);
  chat.live.value = [...failed, ...running];
  if (!inFlight) return;
  const run = runOf(chat, inFlight.runId, inFlight.startedAt);
  const hasText = run.items.some((item) => item.kind === "text");
  if (inFlight.text === "" || hasText) return;
  // Its id is not known yet; the next event brings the whole text under its own id and replaces this.
  putRun(chat, {
    ...run,
    items: [...run.items, { kind: "text", id: "adopted", text: inFlight.text, at: inFlight.startedAt, isStreaming: true }],
  });
}

/** One page further back; calls that come while it is read share it. @param {Chat} chat @returns {Promise<void>} */
export function loadOlder(chat) {
  chat.olderPage ??= readOlder(chat).finally(() => {
    chat.olderPage = undefined;
  });
  return chat.olderPage;
}

/** @param {Chat} chat */
async function readOlder(chat) {
  if (!chat.hasOlder.value || !isOnline.value) return;
  chat.isLoadingOlder.value = true;
  try {
    const answer = await request("chat.history", {
      sessionKey: chat.key,
      limit: PAGE,
      offset: chat.total.value - (chat.messages.value[0]?.__svc?.seq ?? 1) + 1,
      maxChars: 200_000,
    });
    batch(() => {
      if (answer.sessionId === chat.sessionId) {
        chat.messages.value = mergeMessages(chat.messages.value, answer.messages);
        chat.hasOlder.value = answer.hasMore;
      }
      chat.isLoadingOlder.value = false;
    });
  } catch (error) {
    chat.isLoadingOlder.value = false;
    showError(chat, error);
  }
}

/**
 * A stored message, reading back to it page after page.
 * @param {Chat} chat
 * @param {string} name its id, or its number in the session
 * @returns {Promise<Message | undefined>} undefined when it is not there, too far back, or cannot be read now (`isReadable`)
 */
export async function findMessage(chat, name) {
  for (let page = 0; page <= MAX_PAGES_BACK; page++) {
    const found = chat.messages.value.find(({ __svc }) => __svc?.id === name || String(__svc?.seq) === name);
    const oldest = chat.messages.value[0];
    if (found || !chat.hasOlder.value || Number(name) > (oldest?.__svc?.seq ?? 0)) return found;
    await loadOlder(chat);
    if (chat.messages.value[0] === oldest) return undefined;
  }
  return undefined;
}

/** True while the stored messages can be read: there is a connection, and the last read did not fail. @param {Chat} chat */
export function isReadable(chat) {
  return chat.isLoaded.value && isOnline.value && chat.error.value === undefined;
}

/** Lets go of far older pages once the reader is back at the end. @param {Chat} chat */
export function trimOlder(chat) {
  if (chat.messages.value.length <= 2 * PAGE) return;
  chat.messages.value = chat.messages.value.slice(-PAGE);
  chat.hasOlder.value = true;
}

/** The stored form of an ended run replaces what was streamed. @param {string} sessionKey @param {string} runId */
export async function settle(sessionKey, runId) {
  const chat = chats.get(sessionKey);
  if (!chat) return dropOutgoing(runId);
  try {
    await refresh(chat);
    dropOutgoing(runId);
  } catch {
    // The streamed text stays visible; the next connection reads the history again.
  }
}

/** @param {Chat} chat @param {string} runId @param {number} startedAt @returns {LiveRun} */
export function runOf(chat, runId, startedAt) {
  return chat.live.value.find((run) => run.runId === runId) ?? { runId, startedAt, items: [], state: "running" };
}

/** @param {Chat} chat @param {LiveRun} run */
export function putRun(chat, run) {
  const i = chat.live.value.findIndex((r) => r.runId === run.runId);
  chat.live.value = i < 0 ? [...chat.live.value, run] : chat.live.value.with(i, run);
}

/** @param {Chat} chat @param {string} runId */
function isStored(chat, runId) {
  return chat.messages.value.some((m) => isFromPerson(m) && m.__svc?.runId === runId);
}
