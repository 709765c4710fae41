import { texts } from "../texts/frame.js";
import { count, list, plural, span } from "./format.js";

/**
 * The parts of the gateway in one list, with reason and remedy, and what of them waits for a person. Pure.
 *
 * @typedef {"ok" | "info" | "warn" | "bad"} Level
 * @typedef {{ id: string, name: string, level: Level, text: string, reason?: string, command?: string, hint?: string, until?: number | undefined,
 *   link?: { href: string, word: string } }} Part `until`: when it is tried again
 * @typedef {import("./channel-facts.js").Account} Account
 * @typedef {{ channel: string, label: string, account: Account }} AccountNeed
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
  const version = health.version ? texts.version(health.version) : texts.running;
  if (health.ok === false || reasons.length > 0) {
    const reason = reasons.join("; ") || texts.criticalPartReports;
    return {
      id: "gateway",
      name: texts.gateway,
      level: health.ok === false ? "bad" : "warn",
      text: version,
      reason,
      command: "svc health",
    };
  }
  return { id: "gateway", name: texts.gateway, level: "ok", text: version };
}

/** @type {Record<string, string>} */
const troubleWords = {
  cooldown: texts.cooldown,
  "key-rejected": texts.cannotAnswerKey,
  unreachable: texts.doesNotAnswer,
  unavailable: texts.cannotUsed,
  unknown: texts.notOffered,
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
  return until !== undefined && until > now ? texts.triedAgain(span(until - now)) : "";
}

/** End of the rest that is over first. @param {ModelStatus | undefined} status @param {number} now */
export function nextTry(status, now) {
  const rows = [...(status?.providers ?? []), ...(status?.agents ?? []).flatMap(({ models }) => models)];
  const ends = rows.flatMap(({ until }) => (until !== undefined && until > now ? [until] : []));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

const modelsLink = { href: "#/models", word: texts.models };

/** @param {Facts} facts @returns {Part | undefined} */
function modelPart(facts) {
  const first = facts.modelStatus?.agents.find(({ isDefault }) => isDefault)?.models[0];
  const part = /** @type {const} */ ({ id: "model", name: texts.model });
  const trouble = modelTrouble(facts.modelStatus);
  if (first && !trouble) return { ...part, level: "ok", text: `${first.provider}/${first.model}` };
  if (!trouble || trouble.isWithout) return listedModel(facts, trouble !== undefined);
  const { name, word, reason, until, instead } = trouble;
  const why = { reason: texts.itDoes({ word, reason: reason === undefined ? "" : `: ${reason}` }), until, link: modelsLink };
  return { ...part, level: "warn", text: name, ...why, ...(instead === undefined ? {} : { hint: texts.answersMeanwhile(instead) }) };
}

/** The model as far as lists and sessions know it. @param {Facts} facts @param {boolean} isWithout no language model answers @returns {Part | undefined} */
function listedModel({ models, defaultModel }, isWithout) {
  if (!models) return undefined;
  const usable = models.filter((m) => m.available !== false);
  if (usable.length === 0) {
    const reason = texts.noModelCan;
    return {
      id: "model",
      name: texts.model,
      level: "bad",
      text: texts.noModel,
      reason,
      hint: texts.enablePluginModel,
      link: modelsLink,
    };
  }
  if (isWithout || !defaultModel || defaultModel.provider === "recall") {
    return {
      id: "model",
      name: texts.model,
      level: "info",
      text: texts.recallQuotesYour,
      hint: texts.noLanguageModel,
      link: modelsLink,
    };
  }
  const name = `${defaultModel.provider}/${defaultModel.model}`;
  const own = models.find((m) => m.provider === defaultModel.provider && m.id === defaultModel.model);
  if (own?.available === false) {
    const reason =
      own.unavailableReason === "missing-auth" ? texts.apiKeyMissing : texts.notAvailableNow(own.unavailableReason ?? texts.unknown);
    return { id: "model", name: texts.model, level: "warn", text: name, reason };
  }
  return { id: "model", name: texts.model, level: "ok", text: name };
}

/** @param {Facts} facts @returns {Part | undefined} */
function memoryPart({ memory, agentId }) {
  if (!memory) return undefined;
  const { files = 0, chunks = 0, custom, syncing, lastError, workspace } = memory;
  const mode = custom?.searchMode === "fts-only" || !custom?.searchMode ? texts.keywordSearch : texts.searchBy(custom.searchMode);
  const text = list([plural(files, texts.files), plural(chunks, texts.passages), mode, ...(syncing ? [texts.reading] : [])]);
  if (lastError) return { id: "memory", name: texts.memory, level: "warn", text, reason: lastError, command: "svc memory status" };
  if (files === 0 && !syncing) {
    const hint = texts.putNotesMarkdown(workspace ? `${workspace}/memory` : texts.folderMemoryWorkspace);
    const link = agentId === undefined ? {} : { link: { href: firstNote(agentId), word: texts.writeFirstOne } };
    return {
      id: "memory",
      name: texts.memory,
      level: "info",
      text: texts.noNotesYet,
      hint,
      ...(workspace ? { command: `${workspace}/memory` } : {}),
      ...link,
    };
  }
  return { id: "memory", name: texts.memory, level: "ok", text };
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
    text: texts.pluginFailed,
    reason: p.error ?? texts.didNotStart,
    command: "svc plugins list",
  }));
  return [...parts, { id: "plugins", name: texts.plugins, level: "ok", text: texts.active(count(active)) }];
}

/** Accounts that do not work and do not come back by themselves. @param {Health | undefined} health @returns {AccountNeed[]} */
export function accountsNeeding(health) {
  const channels = /** @type {Record<string, { accounts?: Account[] }>} */ (health?.channels ?? {});
  const labels = /** @type {Record<string, string>} */ (health?.channelLabels ?? {});
  return Object.entries(channels).flatMap(([channel, { accounts = [] }]) =>
    accounts
      .filter(({ enabled, configured, lifecycle }) => enabled && (!configured || lifecycle === "blocked"))
      .map((account) => ({ channel, label: labels[channel] ?? channel, account })),
  );
}

/** Paths and reasons for which the gateway has to be restarted. @param {Health | undefined} health @returns {string[]} */
export function restartReasons(health) {
  const { pendingRestart = [], restart = [] } = /** @type {{ pendingRestart?: string[], restart?: string[] }} */ (
    health?.configReload ?? {}
  );
  return [...pendingRestart, ...restart];
}

/**
 * Parts that need a person, without a gateway whose only trouble is told account by account.
 * @template {{ id: string }} Part
 * @param {Part[]} parts @param {Health | undefined} health
 */
export function partsNeeding(parts, health) {
  const problems = Object.keys(health?.problems ?? {});
  const isTold = health?.ok !== false && problems.every((part) => part === "channels") && accountsNeeding(health).length > 0;
  return isTold ? parts.filter(({ id }) => id !== "gateway") : parts;
}

/**
 * "1 part needs you. 2 people wait to be let in."
 * @param {{ parts: number, approvals: number, devices: number, people: number, accounts: number, restarts: number }} counts
 */
export function needWords({ parts, approvals, devices, people, accounts, restarts }) {
  const sentences = [
    parts > 0 && plural(parts, texts.partsNeedYou),
    approvals > 0 && plural(approvals, texts.approvalsWait),
    devices > 0 && plural(devices, texts.devicesAsk),
    people > 0 && plural(people, texts.peopleWait),
    accounts > 0 && plural(accounts, texts.accountsNeedYou),
    restarts > 0 && texts.changeWaitsRestart,
  ];
  return sentences.filter(Boolean).join(" ") || texts.everythingWorks;
}
