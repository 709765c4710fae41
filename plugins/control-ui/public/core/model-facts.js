import { texts } from "../texts/models.js";
import { count, decimal, plural, span } from "./format.js";
import { costWords, tokensOf } from "./usage-facts.js";

/**
 * Facts shown about providers and their models. Pure.
 *
 * @typedef {"ok" | "info" | "warn" | "bad" | ""} Level
 * @typedef {{ state: string, reason?: string, until?: number }} Judged
 * @typedef {Judged & { provider: string, model: string }} Choice
 * @typedef {{ agentId: string, isDefault: boolean, setBy?: string, models: Choice[] }} AgentModels
 * @typedef {Judged & { id: string, name?: string, keySource?: string, defaultModel?: string, isConfigured: boolean }} Provider
 * @typedef {{ provider: string, reason: string }} Skipped
 * @typedef {{ agents: AgentModels[], providers: Provider[], skipped: Skipped[] }} ModelStatus
 * @typedef {{ id: string, name: string, provider: string, alias?: string, tags?: string[], available?: boolean, unavailableReason?: string,
 *   contextWindow?: number, reasoning?: boolean, input?: string[] }} Model
 * @typedef {import("./usage-facts.js").UsageRow} UsageRow
 * @typedef {{ ok: true, latencyMs: number, text: string, usage: { input: number, output: number, cacheRead: number } }
 *   | { ok: false, latencyMs: number, fault: string, error: string, retryAfterMs?: number }} TestResult
 */

/** @type {Record<string, { word: string, level: Level }>} */
const states = {
  ready: { word: texts.ready, level: "ok" },
  embedded: { word: texts.quotesNotes, level: "info" },
  cooldown: { word: texts.cooldown, level: "warn" },
  "key-rejected": { word: texts.keyRejected, level: "bad" },
  unreachable: { word: texts.doesNotAnswer, level: "bad" },
  unavailable: { word: texts.cannotUsed, level: "bad" },
  unknown: { word: texts.notOffered, level: "bad" },
  none: { word: texts.noModel, level: "bad" },
};

/** A word and a colour for a model or a provider. @param {Judged} judged @returns {{ word: string, level: Level }} */
export function stateOf({ state }) {
  return Object.hasOwn(states, state) ? /** @type {any} */ (states)[state] : { word: state, level: "" };
}

/** @param {{ provider: string, model: string }} ref */
export function nameOf({ provider, model }) {
  if (model === "") return texts.noModel;
  return provider === "" ? model : `${provider}/${model}`;
}

/** Reason as a sentence, and when it is tried again; empty where there is nothing to say. @param {Judged} judged @param {number} now */
export function reasonWords({ reason, until }, now) {
  const said = reason === undefined ? "" : `${reason.replace(/\.$/, "")}.`;
  return [said, againWords(until, now)].filter(Boolean).join(" ");
}

/** @param {number | undefined} until @param {number} now */
function againWords(until, now) {
  return until !== undefined && until > now ? texts.triedAgain(span(until - now)) : "";
}

/** Sentence about all of it. @param {ModelStatus} status */
export function sentenceOf({ agents, providers }) {
  const first = agents.find(({ isDefault }) => isDefault) ?? agents[0];
  const [model, ...others] = first?.models ?? [];
  const number = plural(providers.length, texts.providers);
  if (!first || !model || model.state === "none") return texts.noModelAnswers(number);
  if (model.state === "embedded") return texts.noLanguageModel({ number, agentId: first.agentId });
  if (model.state === "ready") return texts.answered({ number, agentId: first.agentId, name: nameOf(model) });
  const instead = others.find(({ state }) => state === "ready");
  const why = `${nameOf(model)}: ${stateOf(model).word}`;
  return instead
    ? texts.answeredOf({ number, agentId: first.agentId, name: nameOf(instead), why })
    : texts.noModelAnswersOf({ number, agentId: first.agentId, why });
}

/** Place of a model in the list of an agent. @param {number} i */
export function roleOf(i) {
  return i === 0 ? texts.primary : texts.fallback(i);
}

/** Agents that a provider's models are named for, by id. @param {ModelStatus} status @param {string} id */
export function agentsOf({ agents }, id) {
  return agents.flatMap(({ agentId, models }) => (models.some(({ provider }) => provider === id) ? [agentId] : []));
}

/** Providers that are set up and of no use. @param {ModelStatus} status @returns {Array<{ id: string, why: string }>} */
export function unusableOf({ providers, skipped }) {
  const broken = providers.flatMap(({ id, state, reason }) =>
    state === "ready" || state === "cooldown" ? [] : [{ id, why: reason ?? state }],
  );
  const others = skipped.flatMap(({ provider, reason }) =>
    broken.some(({ id }) => id === provider) ? [] : [{ id: provider, why: reason }],
  );
  return [...broken, ...others];
}

/** Skipped providers that have no row of their own. @param {Pick<ModelStatus, "providers" | "skipped">} status */
export function otherSkipped({ providers, skipped }) {
  return skipped.filter(({ provider }) => !providers.some(({ id }) => id === provider));
}

/** Ids that the config has an entry for. @param {Pick<ModelStatus, "providers" | "skipped">} status */
export function takenIn(status) {
  const configured = status.providers.flatMap(({ id, isConfigured }) => (isConfigured ? [id] : []));
  return [...configured, ...otherSkipped(status).map(({ provider }) => provider)];
}

/** "128k", "1M"; undefined where nobody knows. @param {number | undefined} tokens */
export function windowWords(tokens) {
  if (tokens === undefined) return undefined;
  if (tokens < 1_000) return count(tokens);
  return tokens < 1_000_000 ? `${Math.round(tokens / 1_000)}k` : `${decimal(tokens / 1_000_000, 1)}M`;
}

/** @type {Record<string, string>} */
const inputs = { image: texts.vision, audio: texts.audio, pdf: texts.pdf };

/** Abilities of a model in words; nothing is said of what nobody knows. @param {Model} model */
export function abilitiesOf({ contextWindow, input = [], reasoning }) {
  const window = windowWords(contextWindow);
  const reads = input.flatMap((kind) => (Object.hasOwn(inputs, kind) ? [/** @type {string} */ (inputs[kind])] : []));
  return [...(window === undefined ? [] : [texts.context(window)]), ...reads, ...(reasoning ? [texts.reasoning] : [])];
}

/** @type {Record<string, string>} */
const unavailable = { "missing-auth": texts.noKey, "auth-failed": texts.keyRejected, cooldown: texts.cooldown };

/** Marks of a model: its role for the default agent, its alias, why it cannot be used. @param {Model} model @returns {Array<{ word: string, level: Level }>} */
export function marksOf({ tags = [], alias, unavailableReason }) {
  const roles = tags.flatMap((tag) =>
    tag === "default" || tag === "fallback" ? [{ word: tag, level: /** @type {Level} */ ("info") }] : [],
  );
  return [
    ...roles,
    ...(alias === undefined ? [] : [{ word: texts.alias(alias), level: /** @type {Level} */ ("") }]),
    ...(unavailableReason === undefined
      ? []
      : [{ word: unavailable[unavailableReason] ?? unavailableReason, level: /** @type {Level} */ ("warn") }]),
  ];
}

/** Models with these words in their names; those that answer agents first, then by name. @param {readonly Model[]} models @param {string} text */
export function foundModels(models, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (/** @type {Model} */ { tags = [] }) => (tags.includes("default") ? 0 : tags.includes("fallback") ? 1 : 2);
  return models
    .filter(({ id, name }) => words.every((word) => `${id} ${name}`.toLowerCase().includes(word)))
    .sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1));
}

/** Tokens and cost of one model, or of all of a provider's; undefined where it did nothing. @param {readonly UsageRow[] | undefined} rows @param {string} name `provider/model`, or `provider/` for all */
export function usageWords(rows, name) {
  const own = (rows ?? []).filter((row) => (name.endsWith("/") ? row.name.startsWith(name) : row.name === name));
  const runs = own.reduce((sum, row) => sum + row.runs, 0);
  if (own.length === 0) return undefined;
  const priced = own.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]));
  const cost = priced.length === 0 ? texts.noPrice : costWords(priced.reduce((sum, usd) => sum + usd, 0));
  return `${plural(runs, texts.runs)}, ${plural(
    own.reduce((sum, row) => sum + tokensOf(row), 0),
    texts.tokens,
  )}, ${cost}`;
}

/** The result of a test in a sentence. @param {TestResult} result */
export function testWords(result) {
  const { latencyMs } = result;
  const took = latencyMs < 1_000 ? texts.ms(latencyMs) : texts.seconds(decimal(latencyMs / 1_000, 1, 1));
  if (!result.ok) return texts.noAnswer({ replaceAll: result.fault.replaceAll("_", " ").replaceAll("-", " "), took, error: result.error });
  const { input, cacheRead, output } = result.usage;
  const tokens =
    input + cacheRead + output === 0 ? "" : texts.tokensInOut({ input: plural(input + cacheRead, texts.tokens), output: count(output) });
  return texts.answeredIn({ took, tokens, text: result.text });
}

/** Next step for a fault of a test. @param {string} fault */
export function adviceFor(fault) {
  if (fault === "auth") return texts.vendorDoesNot;
  if (fault === "network") return texts.serverRunningAddress;
  if (fault === "timeout") return texts.tookTooLong;
  if (fault === "model_not_found") return texts.thereNoModel;
  if (fault === "quota" || fault === "rate_limit") return texts.vendorSLimit;
  return undefined;
}

/**
 * Model of a provider that is asked first: the one that was typed, else the provider's own choice, else the first by name that is likely to talk.
 * @param {string} typed
 * @param {{ defaultModel?: string | undefined, ids: readonly string[] }} offered
 */
export function modelToAsk(typed, { defaultModel, ids }) {
  if (typed.trim() !== "") return typed.trim();
  return defaultModel ?? [...ids].sort().find((id) => !/embed|rerank|whisper|tts|bge-|e5-|minilm|stable-diffusion/i.test(id));
}
