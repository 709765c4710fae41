import { signal } from "@preact/signals";
import { texts } from "../texts/frame.js";

/**
 * Everything worth sharing is in the hash, so any base path and any proxy will do.
 *
 * @typedef {{ view: string, rest: string, params: Record<string, string> }} Route
 */

/** Views by their names in an address, and the words for them. @type {Readonly<Record<string, string>>} */
export const viewNames = {
  overview: texts.overview,
  chat: texts.chat,
  explain: texts.whyDidSay,
  sessions: texts.sessions,
  memory: texts.memory,
  channels: texts.channels,
  webhooks: texts.webhooks,
  plugins: texts.plugins,
  devices: texts.devices,
  agents: texts.agents,
  models: texts.models,
  schedule: texts.schedule,
  mcp: texts.mcpServers,
  config: texts.config,
  usage: texts.usage,
  logs: texts.logs,
  audit: texts.audit,
  panel: texts.panel,
  about: texts.about,
};

/**
 * `#/chat/agent%3Amain%3Amain?m=3` → view `chat`, rest `agent:main:main`, params `{m: "3"}`. Pure.
 * @param {string} hash
 * @returns {Route}
 */
export function parseRoute(hash) {
  if (!hash.startsWith("#/")) return { view: "", rest: "", params: {} };
  const text = hash.slice(2);
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  const params = Object.fromEntries(new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)));
  const slash = path.indexOf("/");
  const view = slash < 0 ? path : path.slice(0, slash);
  return { view, rest: slash < 0 ? "" : decode(path.slice(slash + 1)), params };
}

/**
 * @param {string} view
 * @param {string} [rest]
 * @param {Record<string, string | undefined>} [params] undefined ones are left out
 */
export function formatRoute(view, rest = "", params = {}) {
  const query = new URLSearchParams(Object.entries(params).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]]))).toString();
  const path = rest === "" ? "" : `/${rest.split("/").map(encodeURIComponent).join("/")}`;
  return `#/${view}${path}${query === "" ? "" : `?${query}`}`;
}

/** @param {string} key @param {string} [message] id of the message to show, or its number in the session */
export function chatAddress(key, message) {
  return formatRoute("chat", key, { m: message });
}

/**
 * A memory file, beside the chat or, with `q`, beside the search for it.
 * @param {{ path: string, from?: number | undefined, to?: number | undefined }} place
 * @param {string} [agentId]
 * @param {string} [q]
 */
export function fileAddress({ path, from, to }, agentId, q) {
  const lines = from === undefined ? undefined : to === undefined || to === from ? String(from) : `${from}-${to}`;
  return formatRoute("memory", `file/${path}`, { l: lines, a: agentId, q });
}

/** A file that was opened from the chat belongs to the chat. @param {Route} route */
export function isInMemory({ view, rest, params }) {
  return view === "memory" && (!rest.startsWith("file/") || params.q !== undefined);
}

export const route = signal(/** @type {Route} */ ({ view: "", rest: "", params: {} }));

/** @typedef {(next: Route, go: () => void) => boolean} Guard asked before another address is shown; `go` leaves without asking again */

/** @type {Guard | undefined} */
let guard;
let shown = "";

/** Keeps the present address until `asked` lets it go. @param {Guard} asked @returns {() => void} ends that */
export function guardLeaving(asked) {
  guard = asked;
  return () => {
    if (guard === asked) guard = undefined;
  };
}

/** @param {string} address */
export function go(address) {
  if (location.hash === address) return;
  location.hash = address;
}

/** Like `go`, without a step back in the history. @param {string} address */
export function replace(address) {
  history.replaceState(history.state, "", address);
  read();
}

export function startRouter() {
  addEventListener("hashchange", read);
  read();
}

function read() {
  const { hash } = location;
  const next = parseRoute(hash);
  const leave = () => {
    guard = undefined;
    location.hash = hash;
  };
  if (guard && !guard(next, leave)) return history.replaceState(history.state, "", shown);
  shown = hash;
  route.value = next;
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
