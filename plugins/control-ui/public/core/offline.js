import { effect } from "@preact/signals";
import { findChat } from "./chat.js";
import { base, buildId, kept } from "./env.js";
import { COPY, copyOf } from "./kept-copy.js";
import { lastChatKey, recent, restoreRecent, sessionRow } from "./sessions.js";
import { connection, hello, isOnline, lastOnlineAt } from "./store.js";

/**
 * Reading without a network, for who switched it on: the files of this build in the browser's cache, kept by a service worker, and what was read last under a
 * name of this page. Forgetting the browser erases both.
 */

const SWITCH = "offline";
const MOST_SESSIONS = 50;
const MOST_CHATS = 5;
const MOST_MESSAGES = 50;
/** A copy that is larger is kept with fewer messages. */
const MOST_CHARS = 1_000_000;
const KEEP_EVERY_MS = 5_000;

/** Address of the one worker of this build. */
const address = new URL(`${base}assets/${buildId}/worker.js`, location.href).href;

/** @type {{ createScriptURL(url: string): any } | undefined} */
let policy;

/** The policy takes the worker of this build and no other address. */
function workerAddress() {
  const types = /** @type {any} */ (globalThis).trustedTypes;
  if (!types) return address;
  policy ??= types.createPolicy("svc-worker", {
    createScriptURL(/** @type {string} */ url) {
      if (url !== address) throw new TypeError("not the worker of this build");
      return url;
    },
  });
  return /** @type {NonNullable<typeof policy>} */ (policy).createScriptURL(address);
}

/** Browsers have workers in secure contexts only. */
export function canKeep() {
  return "serviceWorker" in navigator && "caches" in globalThis;
}

export function isKept() {
  return kept.get(SWITCH) === "1";
}

/** Switches reading without a network on. @throws when the browser refuses the worker */
export async function keepOffline() {
  await navigator.serviceWorker.register(workerAddress(), { scope: base });
  kept.set(SWITCH, "1");
  startKeeping();
}

/** Removes the worker, its files and the copy. */
export async function forgetOffline() {
  kept.remove(SWITCH);
  kept.remove(COPY);
  if (!canKeep()) return;
  const scope = new URL(base, location.href).href;
  const registrations = await navigator.serviceWorker.getRegistrations();
  await Promise.all(registrations.filter((one) => one.scope === scope).map((one) => one.unregister()));
  const names = (await caches.keys()).filter((name) => name.startsWith(`svc-assets:${scope}assets/`));
  await Promise.all(names.map((name) => caches.delete(name)));
}

let isKeeping = false;

function startKeeping() {
  if (isKeeping) return;
  isKeeping = true;
  setInterval(() => isKept() && isOnline.peek() && document.visibilityState === "visible" && keepCopy(), KEEP_EVERY_MS);
  addEventListener("pagehide", () => isKept() && isOnline.peek() && keepCopy());
}

function keepCopy() {
  const sessions = (recent.peek() ?? []).slice(0, MOST_SESSIONS);
  const keys = [...new Set([lastChatKey(), ...sessions.map(({ key }) => key)])];
  const open = keys.flatMap((key) => (key ? (findChat(key) ?? []) : [])).slice(0, MOST_CHATS);
  // After a reload a chat that was read before it is kept until others take its place, or its session is gone.
  const before = (copyOf()?.chats ?? []).filter(({ key }) => sessionRow(key) && !open.some((chat) => chat.key === key));
  const earlier = before.slice(0, MOST_CHATS - open.length);
  for (let most = MOST_MESSAGES; most > 0; most = Math.floor(most / 2)) {
    const read = open.map((chat) => ({ key: chat.key, messages: chat.messages.peek() }));
    const chats = [...read, ...earlier].map(({ key, messages }) => ({ key, messages: messages.slice(-most) }));
    const text = JSON.stringify({ at: Date.now(), hello: publicHello(), sessions, chats });
    if (text.length <= MOST_CHARS) return kept.set(COPY, text);
  }
}

/** Parts of a hello that the page reads; tokens in it are not kept. */
function publicHello() {
  const { protocol, server, snapshot, auth } = /** @type {NonNullable<typeof hello.value>} */ (hello.peek());
  return { protocol, server, snapshot, auth: { scopes: auth.scopes } };
}

// Without a connection the page shows what it read last, and how old that is.
if (isKept()) {
  startKeeping();
  if (canKeep()) navigator.serviceWorker.register(workerAddress(), { scope: base }).catch(() => undefined);
  const stop = effect(() => {
    const { state } = connection.value;
    if (hello.peek() || state === "refused") return;
    const copy = state === "waiting" ? copyOf() : undefined;
    if (!copy?.hello) return;
    queueMicrotask(() => stop());
    lastOnlineAt.value = copy.at;
    restoreRecent(copy.sessions);
    hello.value = copy.hello;
  });
}
