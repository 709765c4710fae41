import { count, plural, span } from "./format.js";

/**
 * The parts of the gateway in one list, with reason and remedy. Pure.
 *
 * @typedef {"ok" | "info" | "warn" | "bad"} Level
 * @typedef {{ id: string, name: string, level: Level, text: string, reason?: string, command?: string, hint?: string, until?: number | undefined,
 *   link?: { href: string, word: string } }} Part `until`: when it is tried again
 * @typedef {import("./store.js").Health} Health
 * @typedef {import("./model-facts.js").ModelStatus} ModelStatus
 * @typedef {{ health: Health | undefined, plugins: import("./store.js").PluginInfo[] | undefined,
 *   models: import("./store.js").ModelInfo[] | undefined, defaultModel: { provider: string, model: string } | undefined,
 *   modelStatus?: ModelStatus | undefined, memory: import("./store.js").MemoryStatus | undefined, agentId?: string }} Facts
 */

/**
 * Parts of the gateway: failing ones first, then in the order of the list.
 * @param {Facts} facts
 * @returns {Part[]}
 */
export function partsOf(facts) {
  const parts = [gatewayPart(facts), modelPart(facts), memoryPart(facts), ...pluginParts(facts)].filter((p) => p !== undefined);
  const rank = { bad: 0, warn: 1, info: 2, ok: 2 };
  return parts.sort((a, b) => rank[a.level] - rank[b.level]);
}

/** Parts that need a person. @param {Part[]} parts */
export function needingYou(parts) {
  return parts.filter((part) => part.level === "bad" || part.level === "warn");
}

/** @param {Facts} facts @returns {Part | undefined} */
function gatewayPart({ health }) {
  if (!health) return undefined;
  const problems = /** @type {Record<string, string>} */ (health.problems ?? {});
  const reasons = Object.entries(problems).map(([part, reason]) => `${part}: ${reason}`);
  const version = health.version ? `version ${health.version}` : "running";
  if (health.ok === false || reasons.length > 0) {
    const reason = reasons.join("; ") || "a critical part reports that it does not work";
    return { id: "gateway", name: "Gateway", level: health.ok === false ? "bad" : "warn", text: version, reason, command: "svc health" };
  }
  return { id: "gateway", name: "Gateway", level: "ok", text: version };
}

/** @type {Record<string, string>} */
const troubleWords = {
  cooldown: "is in cooldown",
  "key-rejected": "cannot answer, its key was rejected",
  unreachable: "does not answer",
  unavailable: "cannot be used",
  unknown: "is not offered",
};

/**
 * Says why the model that should answer does not; undefined when it does, or when nothing is known.
 * @param {ModelStatus | undefined} status
 * @param {{ agentId?: string | undefined, chosen?: string | undefined }} [whose] the default agent, if nothing is said; `chosen`: the model of one session
 * @returns {{ name: string, word: string, isWithout: boolean, reason?: string | undefined, until?: number | undefined, instead?: string | undefined } | undefined}
 */
export function modelTrouble(status, { agentId, chosen } = {}) {
  const agent = status?.agents.find((one) => (agentId === undefined ? one.isDefault : one.agentId === agentId));
  const known =
    agent?.models.map((model) => ({ ...model, name: model.provider === "" ? model.model : `${model.provider}/${model.model}` })) ?? [];
  const provider = chosen === undefined ? undefined : status?.providers.find(({ id }) => chosen.startsWith(`${id}/`));
  const own = known.find(({ name }) => name === chosen) ?? (provider && { ...provider, name: /** @type {string} */ (chosen) });
  // A model that somebody chose for a conversation has no fallback.
  const first = chosen === undefined ? known[0] : own;
  if (!first || first.state === "ready") return undefined;
  const { name, state, reason, until } = first;
  const instead = chosen === undefined ? known.find((model) => model.state === "ready")?.name : undefined;
  return { name, word: troubleWords[state] ?? state, isWithout: state === "embedded" || state === "none", reason, until, instead };
}

/** No language model answers the default agent. @param {ModelStatus | undefined} status */
export function needsModel(status) {
  return modelTrouble(status)?.isWithout === true;
}

/** "It is tried again in 25 s."; empty when that time is over. @param {number | undefined} until @param {number} now */
export function tryWords(until, now) {
  return until !== undefined && until > now ? `It is tried again in ${span(until - now)}.` : "";
}

/** End of the rest that is over first. @param {ModelStatus | undefined} status @param {number} now */
export function nextTry(status, now) {
  const rows = [...(status?.providers ?? []), ...(status?.agents ?? []).flatMap(({ models }) => models)];
  const ends = rows.flatMap(({ until }) => (until !== undefined && until > now ? [until] : []));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

const modelsLink = { href: "#/models", word: "Models" };

/** @param {Facts} facts @returns {Part | undefined} */
function modelPart(facts) {
  const first = facts.modelStatus?.agents.find(({ isDefault }) => isDefault)?.models[0];
  const part = /** @type {const} */ ({ id: "model", name: "Model" });
  const trouble = modelTrouble(facts.modelStatus);
  if (first && !trouble) return { ...part, level: "ok", text: `${first.provider}/${first.model}` };
  if (!trouble || trouble.isWithout) return listedModel(facts, trouble !== undefined);
  const { name, word, reason, until, instead } = trouble;
  const why = { reason: `it ${word}${reason === undefined ? "" : `: ${reason}`}`, until, link: modelsLink };
  return { ...part, level: "warn", text: name, ...why, ...(instead === undefined ? {} : { hint: `${instead} answers meanwhile.` }) };
}

/** The model as far as lists and sessions know it. @param {Facts} facts @param {boolean} isWithout no language model answers @returns {Part | undefined} */
function listedModel({ models, defaultModel }, isWithout) {
  if (!models) return undefined;
  const usable = models.filter((m) => m.available !== false);
  if (usable.length === 0) {
    const reason = "no model can answer";
    return {
      id: "model",
      name: "Model",
      level: "bad",
      text: "none",
      reason,
      hint: "Enable the plugin model-recall or add a provider.",
      link: modelsLink,
    };
  }
  if (isWithout || !defaultModel || defaultModel.provider === "recall") {
    return {
      id: "model",
      name: "Model",
      level: "info",
      text: "recall, quotes your notes",
      hint: "No language model answers yet.",
      link: modelsLink,
    };
  }
  const name = `${defaultModel.provider}/${defaultModel.model}`;
  const own = models.find((m) => m.provider === defaultModel.provider && m.id === defaultModel.model);
  if (own?.available === false) {
    const reason =
      own.unavailableReason === "missing-auth"
        ? "its API key is missing"
        : `it is not available now (${own.unavailableReason ?? "unknown"})`;
    return { id: "model", name: "Model", level: "warn", text: name, reason };
  }
  return { id: "model", name: "Model", level: "ok", text: name };
}

/** @param {Facts} facts @returns {Part | undefined} */
function memoryPart({ memory, agentId }) {
  if (!memory) return undefined;
  const { files = 0, chunks = 0, custom, syncing, lastError, workspace } = memory;
  const mode = custom?.searchMode === "fts-only" || !custom?.searchMode ? "keyword search" : `${custom.searchMode} search`;
  const text = `${plural(files, "file")}, ${plural(chunks, "passage")}, ${mode}${syncing ? ", reading" : ""}`;
  if (lastError) return { id: "memory", name: "Memory", level: "warn", text, reason: lastError, command: "svc memory status" };
  if (files === 0 && !syncing) {
    const hint = `Put notes as Markdown files into ${workspace ? `${workspace}/memory` : "the folder memory of the workspace"}, such as router.md: they are found a moment later.`;
    const link = agentId === undefined ? {} : { link: { href: firstNote(agentId), word: "Write the first one here" } };
    return {
      id: "memory",
      name: "Memory",
      level: "info",
      text: "no notes yet",
      hint,
      ...(workspace ? { command: `${workspace}/memory` } : {}),
      ...link,
    };
  }
  return { id: "memory", name: "Memory", level: "ok", text };
}

/** Address of the editor of a note that the page itself can write. @param {string} agentId */
export function firstNote(agentId) {
  return `#/agents?a=${encodeURIComponent(agentId)}&file=MEMORY.md`;
}

/** Failing plugins one by one, the rest as one line. @param {Facts} facts @returns {Part[]} */
function pluginParts({ plugins }) {
  if (!plugins) return [];
  // A plugin that was switched off has a reason too, and needs nobody.
  const failing = plugins.filter((p) => p.state === "error" || (p.error && p.state !== "disabled"));
  const active = plugins.filter((p) => p.state === "enabled" && !p.error).length;
  const parts = failing.map((p) => ({
    id: `plugin:${p.id}`,
    name: p.name ?? p.id,
    level: /** @type {Level} */ ("bad"),
    text: "plugin failed",
    reason: p.error ?? "it did not start",
    command: "svc plugins list",
  }));
  return [...parts, { id: "plugins", name: "Plugins", level: "ok", text: `${count(active)} active` }];
}
