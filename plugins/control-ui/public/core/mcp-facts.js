import { texts } from "../texts/mcp.js";
import { count, plural } from "./format.js";

/**
 * Facts shown about servers of the Model Context Protocol. Pure.
 *
 * @typedef {{ name: string, transport: "stdio" | "http", state: string, problem?: string, loggedIn?: boolean, tools: string[] }} Server
 * @typedef {{ command?: string, args?: string[], url?: string, env?: Record<string, unknown>, headers?: Record<string, unknown>, oauth?: { clientId?: string },
 *   approval?: string }} Settings
 * @typedef {{ kind: "stdio" | "http", name: string, line: string, url: string, approval: string }} Draft
 * @typedef {{ word: string, level: "ok" | "info" | "warn" | "bad" | "busy" | "" }} State
 */

/** Port that an authorization server sends the browser back to; nobody has to listen there. */
export const CALLBACK_PORT = 47_647;

/** @type {Readonly<Record<string, State>>} */
const states = {
  connecting: { word: texts.connecting, level: "busy" },
  ready: { word: texts.connected, level: "ok" },
  waiting: { word: texts.triesAgain, level: "warn" },
  login: { word: texts.needsLogin, level: "warn" },
  closed: { word: texts.closed, level: "" },
  misconfigured: { word: texts.misconfigured, level: "bad" },
};

/** @param {Server} server @returns {State} */
export function stateOf({ state }) {
  return states[state] ?? { word: state, level: "" };
}

/** Sentence with the numbers of servers. @param {Server[]} servers */
export function sentenceOf(servers) {
  if (servers.length === 0) return texts.agentsHaveNo;
  const [ready, tools] = [servers.filter(({ state }) => state === "ready").length, servers.reduce((sum, one) => sum + one.tools.length, 0)];
  return texts.connectedAgents({ ready: count(ready), servers: plural(servers.length, texts.servers), tools: plural(tools, texts.tools) });
}

/** How it is reached: an address, or the line that starts it. @param {Settings | undefined} settings */
export function placeOf(settings) {
  if (!settings) return "";
  if (settings.url !== undefined) return settings.url;
  return [settings.command ?? "", ...(settings.args ?? [])].map(quoted).join(" ").trim();
}

/** @param {string} word */
function quoted(word) {
  return word !== "" && !/["\s]/.test(word) ? word : JSON.stringify(word);
}

/** Words of a line; what stands in quotes is one, also without the closing one. @param {string} line */
export function wordsOf(line) {
  return [...line.matchAll(/"((?:[^"\\]|\\[\s\S]|\\$)*)(?:"|$)|'([^']*)(?:'|$)|[^\s"']+/g)].map(
    ([whole, double, single]) => single ?? double?.replace(/\\(.)/g, "$1") ?? whole,
  );
}

/** Loss that removing it means for agents. @param {Server} server */
export function lossWords({ tools, loggedIn }) {
  const lost = tools.length === 0 ? texts.agentsHaveNone : texts.agentsLoseOnce(plural(tools.length, texts.tools));
  return texts.settingsSecretsGo({ lost, more: loggedIn ? texts.loginKeptUntil : "" });
}

/** Draft of a new server. @returns {Draft} */
export function freshDraft() {
  return { kind: "stdio", name: "", line: "", url: "", approval: "writes" };
}

/** @param {Draft} draft @param {string[]} taken names that there are @returns {Partial<Record<keyof Draft, string>>} */
export function problemsOf({ kind, name, line, url }, taken) {
  /** @type {Partial<Record<keyof Draft, string>>} */
  const problems = {};
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name)) problems.name = texts.smallLetterThen;
  else if (taken.includes(name)) problems.name = texts.thereServerName;
  if (kind === "stdio" && wordsOf(line).length === 0) problems.line = texts.writeCommandStarts;
  if (kind === "http" && !/^https?:\/\/[^\s/?#@]+([/?][^\s#]*)?$/.test(url.trim())) problems.url = texts.httpHttpsAddress;
  return problems;
}

/** Merge patch that adds it. @param {Draft} draft */
export function patchOf({ kind, name, line, url, approval }) {
  const [command, ...args] = wordsOf(line);
  const way = kind === "http" ? { url: url.trim() } : { command, ...(args.length === 0 ? {} : { args }) };
  return { mcp: { servers: { [name]: { ...way, ...(approval === "writes" ? {} : { approval }) } } } };
}

/** Answer of an authorization server in what somebody pasted: an address, or its query; undefined when there is none. @param {string} text */
export function answerIn(text) {
  const trimmed = text.trim();
  const query = URL.canParse(trimmed) ? new URL(trimmed).search.slice(1) : trimmed.replace(/^\?/, "");
  const params = new URLSearchParams(query);
  return params.has("code") || params.has("error") ? query : undefined;
}

/** Lines for clients of the gateway's own server. @param {string} origin of the gateway @param {string} path */
export function clientLines(origin, path) {
  return {
    address: `${origin}${path}`,
    program: JSON.stringify({ mcpServers: { svc: { command: "svc", args: ["mcp"] } } }),
    header: texts.authorizationBearerSvc,
  };
}

/** Link that a person follows to log in; undefined for anything but a web address. @param {string} address */
export function safeAddress(address) {
  return /^https?:\/\//i.test(address) ? address : undefined;
}
