import { batch } from "@preact/signals";
import { texts } from "../texts/chat.js";
import { findChat, putRun, runOf, settle } from "./chat.js";
import { onEvent, request } from "./conn.js";
import { dropOutgoing, outgoingOf } from "./outbox.js";
import { isFromPerson, mergeMessages, textOf, withEvent, withoutText } from "./turns.js";

/**
 * Runs of open chats, as events tell about them, and how to stop one.
 *
 * @typedef {import("./chat.js").Chat} Chat
 * @typedef {import("./turns.js").LiveRun} LiveRun
 */

/** Runs that are over: an event that arrives late must not bring one back to life. */
const over = new Set();
const MAX_OVER = 200;

onEvent("agent", heard);
onEvent("session.tool", heard);
onEvent("chat", ended);
onEvent("session.message", stored);

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
  const chat = findChat(event.sessionKey);
  if (!chat || over.has(event.runId)) return;
  const run = runOf(chat, event.runId, event.ts);
  const clean = event.stream === "assistant" ? { ...run, items: run.items.filter((item) => item.id !== "adopted") } : run;
  putRun(chat, withEvent(clean, event));
}

/** @param {any} event payload of `chat` */
function ended(event) {
  const chat = findChat(event.sessionKey);
  if (event.state === "delta" || event.state === "status") return;
  over.add(event.runId);
  for (const old of over) {
    if (over.size <= MAX_OVER) break;
    over.delete(old);
  }
  if (!chat) return;
  if (event.runId.startsWith("inject-notice-")) {
    const note = {
      kind: /** @type {const} */ ("note"),
      id: event.runId,
      level: /** @type {const} */ ("info"),
      text: textOf(event.message.content),
    };
    return putRun(chat, { ...runOf(chat, event.runId, Date.now()), state: "ended", note });
  }
  if (event.state === "error") {
    const text = outgoingOf(chat.key).find((e) => e.key === event.runId)?.text ?? questionOf(chat, event.runId);
    noteFailure(chat.key, event.runId, { message: String(event.errorMessage ?? texts.runFailed), text });
  } else {
    const run = chat.live.value.find((r) => r.runId === event.runId);
    if (run) putRun(chat, { ...run, state: "ended" });
  }
  void settle(chat.key, event.runId);
}

/** @param {any} event payload of `session.message` */
function stored(event) {
  const chat = findChat(event.sessionKey);
  if (!chat) return;
  const { message, session } = event;
  batch(() => {
    if (chat.sessionId !== undefined && session?.sessionId && session.sessionId !== chat.sessionId) chat.messages.value = [];
    chat.sessionId = session?.sessionId ?? chat.sessionId;
    chat.messages.value = mergeMessages(chat.messages.value, [message]);
    chat.total.value = Math.max(chat.total.value, event.messageSeq ?? 0);
    const runId = message.__svc?.runId;
    if (isFromPerson(message)) dropOutgoing(runId);
    const run = message.role === "assistant" ? chat.live.value.find((r) => r.runId === runId) : undefined;
    if (run) putRun(chat, withoutText(run));
  });
}

/** @param {string} sessionKey @param {string} runId @param {{ message: string, text: string }} failure */
export function noteFailure(sessionKey, runId, { message, text }) {
  const chat = findChat(sessionKey);
  if (!chat) return;
  const run = runOf(chat, runId, Date.now());
  putRun(chat, { ...run, state: "ended", note: { kind: "note", id: `${runId}:failed`, level: "bad", text: message, retry: text } });
}

/** @param {Chat} chat @param {string} runId */
function questionOf(chat, runId) {
  const message = chat.messages.value.find((m) => isFromPerson(m) && m.__svc?.runId === runId);
  return message ? textOf(message.content) : "";
}
