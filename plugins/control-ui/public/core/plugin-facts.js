import { texts } from "../texts/parts.js";
import { count, list, plural, span } from "./format.js";

/**
 * Facts shown about plugins. Pure.
 *
 * @typedef {{ state: string, since: number, instance: number, code?: string, reason?: string, hint?: string, ms?: number, isolation?: string,
 *   lastReload?: { at: number, status: string, error?: string } }} Runtime
 * @typedef {{ hook: string, tap?: string, state: "closed" | "open" | "half-open", failures: number, until?: number, lastError?: string }} Hook
 * @typedef {{ id: string, name: string, version: string, description: string, origin: string, enabled: boolean, state: string, error?: string,
 *   runtime: Runtime, hooks: Hook[], diagnostics: Array<{ code: string, message: string }> }} Plugin
 * @typedef {{ plugins: Plugin[], mutationAllowed: boolean }} Plugins
 * @typedef {{ source: { origin: string, root: string, installed: boolean }, declared: Record<string, string[]>, permissions: string[],
 *   configSchema?: Record<string, any>, homepage?: string }} Inspected
 * @typedef {{ word: string, level: "ok" | "info" | "warn" | "bad" | "busy" | "" }} State
 */

/** Choices of which plugins are listed. */
export const filters = /** @type {const} */ (["all", "trouble", "on", "off"]);

/** @type {Readonly<Record<string, State>>} */
const states = {
  active: { word: texts.active, level: "ok" },
  ready: { word: texts.loadsWhenUsed, level: "" },
  loading: { word: texts.loading, level: "busy" },
  stopping: { word: texts.stopping, level: "busy" },
  degraded: { word: texts.degraded, level: "warn" },
  retrying: { word: texts.triesAgain, level: "warn" },
  failed: { word: texts.failed, level: "bad" },
  blocked: { word: texts.blocked, level: "bad" },
  disabled: { word: texts.off, level: "" },
  disposed: { word: texts.stopped, level: "" },
};

/** A word and a colour for how a plugin is. @param {Plugin} plugin @returns {State} */
export function stateOf({ runtime: { state, code }, hooks }) {
  if (state === "blocked" && code === "quarantined") return { word: texts.quarantined, level: "bad" };
  if (state === "active" && hooks.some(isResting)) return { word: texts.hooksRest, level: "warn" };
  return states[state] ?? { word: state, level: "" };
}

/** Does it need somebody? @param {Plugin} plugin */
export function isInTrouble(plugin) {
  const { level } = stateOf(plugin);
  return level === "warn" || level === "bad";
}

/** Returns why it does not simply work, with the code that documents and logs name it by. @param {Plugin} plugin */
export function reasonOf({ error, runtime: { code, reason, state } }) {
  if (state === "disabled") return undefined;
  const text = reason ?? error;
  return text === undefined ? undefined : code === undefined ? text : `${code}: ${text}`;
}

/** Place in its own files that an error begins with, such as `src/index.ts:4:10`. @param {Plugin} plugin @returns {string | undefined} */
export function placeOf({ error, runtime: { reason } }) {
  const [place = ""] = (reason ?? error ?? "").split(": ", 1);
  return /^[^\s:]{1,500}\.[cm]?[jt]sx?(:\d{1,9}){0,2}$/.test(place) ? place : undefined;
}

/**
 * Place that a plugin is installed from: `npm:<name>`, or the path of a folder or an archive; undefined for a text that is none of them.
 * @param {string} text
 */
export function sourceOf(text) {
  const source = text.trim();
  if (source === "" || /\p{Cc}/u.test(source)) return undefined;
  const isPath = /^[./~]/.test(source) || source.endsWith(".tgz");
  if (!isPath && /^[a-z][a-z0-9+.-]*:/i.test(source) && !source.startsWith("npm:")) return undefined;
  return isPath || source.startsWith("npm:") ? source : `npm:${source}`;
}

/** Command that installs a plugin from a place. @param {string} source */
export function installCommand(source) {
  return `svc plugins install ${quoted(source)}`;
}

/** Meanings of what plugins can ask for. @type {Readonly<Record<string, string>>} */
const permissions = {
  "hooks.conversation": texts.readsTextConversations,
  "hooks.prompt": texts.changesModelTold,
  "hooks.gate": texts.mayRefuseAgent,
  "auth.provider": texts.decidesWhoCaller,
  "http.public": texts.answersHttpRequests,
  "rpc.admin": texts.callsMethodsAdministrators,
  "fs.workspace": texts.readsWritesAgents,
  exec: texts.startsPrograms,
  net: texts.opensConnections,
};

/** @param {string} permission */
export function permissionWords(permission) {
  return Object.hasOwn(permissions, permission) ? `${permissions[permission]} (${permission})` : permission;
}

/** One word of a shell; a leading tilde stays open. @param {string} word */
function quoted(word) {
  if (/^[\w@%+=:,./~^-]+$/.test(word)) return word;
  const [head, rest] = word.startsWith("~/") ? ["~/", word.slice(2)] : ["", word];
  return `${head}'${rest.replaceAll("'", "'\\''")}'`;
}

/** Further things that an operator should know of it, one sentence each. @param {Plugin} plugin @param {number} now */
export function notesOf({ runtime, hooks, diagnostics }, now) {
  const { hint, isolation, lastReload, reason } = runtime;
  return /** @type {string[]} */ (
    [
      // A button beside it does what the hint says.
      hint && runtime.state !== "disabled" && texts.whatToDo(hint),
      isolation && texts.runsOwn(isolation),
      ...hooks.filter(isResting).map((hook) => restWords(hook, now)),
      lastReload?.error && lastReload.error !== reason && texts.lastReload({ status: lastReload.status, error: lastReload.error }),
      ...diagnostics.filter(({ message }) => message !== reason).map(({ code, message }) => `${code}: ${message}`),
    ].filter(Boolean)
  );
}

/** @param {Hook} hook */
function isResting({ state }) {
  return state !== "closed";
}

/** @param {Hook} hook @param {number} now */
function restWords({ hook, tap, failures, until, lastError }, now) {
  const name = tap === undefined ? hook : `${hook} (${tap})`;
  const again = until !== undefined && until > now ? texts.calledAgain(span(until - now)) : texts.triedAgainNext;
  return texts.hookNotCalled({ name, failures: plural(failures, texts.failures), lastError: lastError ?? texts.noReasonKnown, again });
}

/** Acts that help now, the most useful first. @param {Plugin} plugin @returns {Array<"enable" | "release" | "reload" | "disable">} */
export function actsOf({ runtime: { state, code } }) {
  if (state === "disabled") return ["enable"];
  if (code === "quarantined") return ["release", "disable"];
  if (code === "blocked-event-loop") return ["release", "reload", "disable"];
  if (["failed", "degraded", "retrying"].includes(state)) return ["reload", "disable"];
  return ["disable"];
}

/** Plugins that a filter and a search let through, those that need somebody first. @param {Plugin[]} plugins @param {{ f: string, q: string }} wish */
export function shownOf(plugins, { f, q }) {
  const words = q.trim().toLowerCase().split(" ").filter(Boolean);
  const isShown = (/** @type {Plugin} */ plugin) => {
    const isOff = plugin.runtime.state === "disabled";
    if (f === "trouble" && !isInTrouble(plugin)) return false;
    if ((f === "on" && isOff) || (f === "off" && !isOff)) return false;
    const text = `${plugin.id} ${plugin.name} ${plugin.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return plugins.filter(isShown).sort((a, b) => Number(isInTrouble(b)) - Number(isInTrouble(a)) || (a.id < b.id ? -1 : 1));
}

/** Sentence with the numbers of plugins. @param {Plugin[]} plugins */
export function sentenceOf(plugins) {
  const [on, troubled] = [plugins.filter(({ runtime }) => runtime.state !== "disabled").length, plugins.filter(isInTrouble).length];
  const needs = troubled === 0 ? "" : plural(troubled, texts.pluginsNeedYou);
  return texts.pluginsOn({ on: count(on), plugins: plural(plugins.length, texts.plugins), needs });
}

/** @type {Readonly<Record<string, { one: string, other: string }>>} */
const kinds = texts.contributions;

/** Contributions by kind, those there are; `kind` names one or several, as many as there are. @param {Record<string, string[]>} declared @returns {Array<{ kind: string, names: string[] }>} */
export function contributionsOf(declared) {
  return Object.entries(declared).flatMap(([key, names]) =>
    names.length === 0 ? [] : [{ kind: plural(names.length, kindForms(key)).replace(/^\S+ /, ""), names }],
  );
}

/** @param {string} key */
function kindForms(key) {
  return Object.hasOwn(kinds, key) ? /** @type {{ one: string, other: string }} */ (kinds[key]) : { other: `# ${key}` };
}

/** "2 tools, 1 channel": what goes when it is switched off. @param {Record<string, string[]>} declared */
export function lossWords(declared) {
  const parts = Object.entries(declared).flatMap(([key, names]) => (names.length === 0 ? [] : [plural(names.length, kindForms(key))]));
  return parts.length === 0 ? texts.addsNothingOthers : texts.addsGoesOnce(list(parts));
}

/** Keys of its own config. @param {Record<string, any> | undefined} schema @returns {Array<{ key: string, text: string }>} */
export function configKeys(schema) {
  return Object.entries(schema?.properties ?? {}).map(([key, value]) => {
    const { description, type, default: standard } = /** @type {Record<string, any>} */ (value ?? {});
    const parts = [
      description ?? (typeof type === "string" ? type : ""),
      standard === undefined ? "" : texts.default(JSON.stringify(standard)),
    ];
    return { key, text: parts.filter(Boolean).join(" · ") };
  });
}
