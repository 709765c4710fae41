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
  connecting: { word: "connecting", level: "busy" },
  ready: { word: "connected", level: "ok" },
  waiting: { word: "tries again", level: "warn" },
  login: { word: "needs a login", level: "warn" },
  closed: { word: "closed", level: "" },
  misconfigured: { word: "misconfigured", level: "bad" },
};

/** @param {Server} server @returns {State} */
export function stateOf({ state }) {
  return states[state] ?? { word: state, level: "" };
}

/** Sentence with the numbers of servers. @param {Server[]} servers */
export function sentenceOf(servers) {
  if (servers.length === 0) return "Agents have no tools of other servers.";
  const [ready, tools] = [servers.filter(({ state }) => state === "ready").length, servers.reduce((sum, one) => sum + one.tools.length, 0)];
  return `${count(ready)} of ${plural(servers.length, "server")} connected, ${plural(tools, "tool")} for agents.`;
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
  const lost = tools.length === 0 ? "Agents have none of its tools now." : `Agents lose ${plural(tools.length, "tool")} at once.`;
  return `${lost} Its settings and secrets go from the config.${loggedIn ? " Its login is kept until you log out." : ""}`;
}

/** Draft of a new server. @returns {Draft} */
export function freshDraft() {
  return { kind: "stdio", name: "", line: "", url: "", approval: "writes" };
}

/** @param {Draft} draft @param {string[]} taken names that there are @returns {Partial<Record<keyof Draft, string>>} */
export function problemsOf({ kind, name, line, url }, taken) {
  /** @type {Partial<Record<keyof Draft, string>>} */
  const problems = {};
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name)) problems.name = "A small letter, then up to 31 of a-z, 0-9, _ and -.";
  else if (taken.includes(name)) problems.name = "There is a server of this name.";
  if (kind === "stdio" && wordsOf(line).length === 0) problems.line = "Write the command that starts it.";
  if (kind === "http" && !/^https?:\/\/[^\s/?#@]+([/?][^\s#]*)?$/.test(url.trim()))
    problems.url = "An http or https address, without a user in it.";
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
    header: "Authorization: Bearer $SVC_GATEWAY_TOKEN",
  };
}

/** Link that a person follows to log in; undefined for anything but a web address. @param {string} address */
export function safeAddress(address) {
  return /^https?:\/\//i.test(address) ? address : undefined;
}
