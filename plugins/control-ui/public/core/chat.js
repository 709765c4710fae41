import { batch, signal } from "@preact/signals";
import { onEvent, onOnline, request } from "./conn.js";
import { newId, ofTab } from "./env.js";
import { changeOutgoing, dropOutgoing, outbox, outgoingOf, putOutgoing } from "./outbox.js";
import { patchSession, rememberChat, sessionRow } from "./sessions.js";
import { isOnline } from "./store.js";
import { mergeMessages, textOf, withEvent, withoutText } from "./turns.js";

/**
 * The open chats of this tab: their messages, the runs that are writing into them, and how to send and stop.
 *
 * @typedef {import("./turns.js").Message} Message
 * @typedef {import("./turns.js").LiveRun} LiveRun
 * @typedef {ReturnType<typeof create>} Chat
 */

const PAGE = 200;
/** Chats kept in memory; opening one more lets the longest unused one go. */
const MAX_CHATS = 8;
/** Messages kept of one chat while it is read from its end. */
const MAX_MESSAGES = 2_000;

/** @type {Map<string, Chat>} */
const chats = new Map();

/** Runs that are over: an event that arrives late must not bring one back to life. */
const over = new Set();
const MAX_OVER = 200;
/** Failures shown below their messages; they are not part of the stored history. */
const MAX_NOTES = 10;

/** @param {string} key */
function create(key) {
  return {
    key,
    messages: signal(/** @type {Message[]} */ ([])),
    live: signal(/** @type {LiveRun[]} */ ([])),
    sessionId: /** @type {string | undefined} */ (undefined),
    total: signal(0),
    hasOlder: signal(false),
    isLoaded: signal(false),
    isLoadingOlder: signal(false),
    error: signal(/** @type {unknown} */ (undefined)),
    /** Where the reader was: at the end, or at a turn and this far below the top of the view. */
    position: readPosition(key),
  };
}

startChats();

/** @param {string} key @returns {{ isFollowing: boolean, turn: string, offset: number }} */
function readPosition(key) {
  const atEnd = { isFollowing: true, turn: "", offset: 0 };
  try {
    return { ...atEnd, ...JSON.parse(ofTab.get(`position:${key}`) ?? "{}") };
  } catch {
    return atEnd;
  }
}

function startChats() {
  // A reload finds every chat where it was.
  addEventListener("pagehide", () => {
    for (const chat of chats.values()) ofTab.set(`position:${chat.key}`, JSON.stringify(chat.position));
  });
  onOnline(() => {
    for (const chat of chats.values()) void join(chat);
    void resend();
  });
  onEvent("agent", heard);
  onEvent("session.tool", heard);
  onEvent("chat", ended);
  onEvent("session.message", stored);
  onEvent("sessions.changed", (event) => {
    const chat = chats.get(event.sessionKey);
    if (chat && (event.reason === "reset" || event.reason === "delete")) refresh(chat).catch((error) => showError(chat, error));
  });
}

/** The chat of a session, loading it when it is new. @param {string} key @returns {Chat} */
export function openChat(key) {
  const known = chats.get(key);
  const chat = known ?? create(key);
  chats.delete(key);
  chats.set(key, chat);
  rememberChat(key);
  if (!known && isOnline.value) void join(chat);
  for (const [oldKey, old] of chats) {
    if (chats.size <= MAX_CHATS) break;
    if (old.live.value.length > 0 || oldKey === key) continue;
    chats.delete(oldKey);
    if (isOnline.value) request("sessions.messages.unsubscribe", { key: oldKey }).catch(() => undefined);
  }
  return chat;
}

/** Subscribes first, then reads: what happens in between is seen twice, never lost. @param {Chat} chat */
async function join(chat) {
  try {
    await request("sessions.messages.subscribe", { key: chat.key });
    await refresh(chat);
    const row = sessionRow(chat.key);
    if (row?.unread) await patchSession(row, { unread: false }).catch(() => undefined);
  } catch (error) {
    showError(chat, error);
  }
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
    if (chat.sessionId !== undefined && answer.sessionId !== chat.sessionId) chat.messages.value = [];
    const isFirst = chat.messages.value.length === 0;
    chat.sessionId = answer.sessionId;
    chat.total.value = answer.totalMessages;
    chat.messages.value = mergeMessages(chat.messages.value, answer.messages).slice(-MAX_MESSAGES);
    if (isFirst) chat.hasOlder.value = answer.hasMore;
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

/** One page further back. @param {Chat} chat */
export async function loadOlder(chat) {
  if (chat.isLoadingOlder.value || !chat.hasOlder.value || !isOnline.value) return;
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

/** Lets go of far older pages once the reader is back at the end. @param {Chat} chat */
export function trimOlder(chat) {
  if (chat.messages.value.length <= 2 * PAGE) return;
  chat.messages.value = chat.messages.value.slice(-PAGE);
  chat.hasOlder.value = true;
}

/** @param {Chat} chat @param {string} text @returns {string} the run's id */
export function send(chat, text) {
  const key = newId();
  putOutgoing({ key, sessionKey: chat.key, text, at: Date.now(), state: "sending" });
  void deliver(key);
  return key;
}

/** The same message under the same key: the gateway runs it once. @param {string} key */
export function retry(key) {
  changeOutgoing(key, { state: "sending", error: undefined });
  void deliver(key);
}

/** @param {string} key */
async function deliver(key) {
  const entry = outbox.value.find((e) => e.key === key);
  if (!entry) return;
  try {
    const params = { sessionKey: entry.sessionKey, message: entry.text, idempotencyKey: key };
    const answer = await request("chat.send", params);
    changeOutgoing(key, { state: "sent" });
    if (answer.status === "ok") await settle(entry.sessionKey, key);
  } catch (error) {
    await refused(entry, /** @type {import("./conn.js").ClientError} */ (error));
  }
}

/** @param {import("./turns.js").Outgoing} entry @param {import("./conn.js").ClientError} error */
async function refused(entry, error) {
  const payload = /** @type {{ status?: string } | undefined} */ (error.payload);
  if (payload?.status === "error") {
    // The run was accepted once and has failed; its message is stored.
    noteFailure(entry.sessionKey, entry.key, { message: error.message, text: entry.text });
    await settle(entry.sessionKey, entry.key);
  } else if (error.code !== "connection-closed") {
    changeOutgoing(entry.key, { state: "failed", error: error.message, retry: error.retryable });
  }
  // A lost connection changes nothing: the same key goes out again on the next one.
}

async function resend() {
  for (const entry of outbox.value) if (entry.state !== "failed") await deliver(entry.key);
}

/** Stops what is being written; messages that wait for their turn keep it. @param {Chat} chat */
export async function stop(chat) {
  const stopping = chat.live.value.filter((run) => run.state === "running");
  for (const run of stopping) putRun(chat, { ...run, state: "stopping" });
  await Promise.all(stopping.map((run) => abort(chat, run)));
}

/** @param {Chat} chat @param {LiveRun} run */
async function abort(chat, run) {
  try {
    await request("chat.abort", { sessionKey: chat.key, runId: run.runId });
  } catch {
    const now = chat.live.value.find((r) => r.runId === run.runId);
    if (now?.state === "stopping") putRun(chat, { ...now, state: "running" });
  }
}

/** @param {any} event payload of `agent` or `session.tool` */
function heard(event) {
  const chat = chats.get(event.sessionKey);
  if (!chat || over.has(event.runId)) return;
  const run = runOf(chat, event.runId, event.ts);
  const clean = event.stream === "assistant" ? { ...run, items: run.items.filter((item) => item.id !== "adopted") } : run;
  putRun(chat, withEvent(clean, event));
}

/** @param {any} event payload of `chat` */
function ended(event) {
  const chat = chats.get(event.sessionKey);
  if (event.state === "delta" || event.state === "status") return;
  over.add(event.runId);
  for (const old of over) {
    if (over.size <= MAX_OVER) break;
    over.delete(old);
  }
  if (!chat) return;
  if (event.state === "error") {
    const text = outgoingOf(chat.key).find((e) => e.key === event.runId)?.text ?? questionOf(chat, event.runId);
    noteFailure(chat.key, event.runId, { message: String(event.errorMessage ?? "The run failed"), text });
  } else {
    const run = chat.live.value.find((r) => r.runId === event.runId);
    if (run) putRun(chat, { ...run, state: "ended" });
  }
  void settle(chat.key, event.runId);
}

/** @param {any} event payload of `session.message` */
function stored(event) {
  const chat = chats.get(event.sessionKey);
  if (!chat) return;
  const { message, session } = event;
  batch(() => {
    if (chat.sessionId !== undefined && session?.sessionId && session.sessionId !== chat.sessionId) chat.messages.value = [];
    chat.sessionId = session?.sessionId ?? chat.sessionId;
    chat.messages.value = mergeMessages(chat.messages.value, [message]);
    chat.total.value = Math.max(chat.total.value, event.messageSeq ?? 0);
    const runId = message.__svc?.runId;
    if (message.role === "user") dropOutgoing(runId);
    const run = message.role === "assistant" ? chat.live.value.find((r) => r.runId === runId) : undefined;
    if (run) putRun(chat, withoutText(run));
  });
}

/** The stored form of an ended run replaces what was streamed. @param {string} sessionKey @param {string} runId */
async function settle(sessionKey, runId) {
  const chat = chats.get(sessionKey);
  if (!chat) return dropOutgoing(runId);
  try {
    await refresh(chat);
    dropOutgoing(runId);
  } catch {
    // What was streamed stays visible; the next connection reads the history again.
  }
}

/** @param {string} sessionKey @param {string} runId @param {{ message: string, text: string }} failure */
function noteFailure(sessionKey, runId, { message, text }) {
  const chat = chats.get(sessionKey);
  if (!chat) return;
  const run = runOf(chat, runId, Date.now());
  putRun(chat, { ...run, state: "ended", note: { kind: "note", id: `${runId}:failed`, level: "bad", text: message, retry: text } });
}

/** @param {Chat} chat @param {string} runId @param {number} startedAt @returns {LiveRun} */
function runOf(chat, runId, startedAt) {
  return chat.live.value.find((run) => run.runId === runId) ?? { runId, startedAt, items: [], state: "running" };
}

/** @param {Chat} chat @param {LiveRun} run */
function putRun(chat, run) {
  const i = chat.live.value.findIndex((r) => r.runId === run.runId);
  chat.live.value = i < 0 ? [...chat.live.value, run] : chat.live.value.with(i, run);
}

/** @param {Chat} chat @param {string} runId */
function isStored(chat, runId) {
  return chat.messages.value.some((m) => m.role === "user" && m.__svc?.runId === runId);
}

/** @param {Chat} chat @param {string} runId */
function questionOf(chat, runId) {
  const message = chat.messages.value.find((m) => m.role === "user" && m.__svc?.runId === runId);
  return message ? textOf(message.content) : "";
}
