import { texts } from "../texts/webhooks.js";
import { list, plural, span } from "./format.js";

/**
 * Facts shown about webhooks. Pure.
 *
 * @typedef {{ id: string, preset?: string, path?: string, source?: string, action: "wake" | "agent", agentId?: string, forEach?: string, transform?: string,
 *   verify?: { provider: string, mode: "with-token" | "instead" }, isUnsafe?: boolean, broken?: string }} Mapping
 * @typedef {{ uid: string, kind: "agent" | "wake", state: string, attempt: number, path: string, mapping?: string, name?: string, agentId: string, lane: string,
 *   createdAt: number, updatedAt: number, expiresAt: number, notBefore?: number, steps: Record<string, Record<string, unknown>>,
 *   result?: Record<string, unknown> }} Delivery
 * @typedef {{ accepted: number, running: number, failed: number, expired: number }} Counts
 * @typedef {{ enabled: boolean, path?: string, presets: Array<{ id: string, isKnown: boolean }>, mappings: Mapping[], isolation: string, problems: string[],
 *   counts: Counts }} Hooks
 */

/** Delivery states that each filter selects; undefined: all. */
export const filters = /** @type {const} */ ({
  all: undefined,
  waiting: ["accepted", "running"],
  done: ["done"],
  failed: ["failed", "expired"],
});

/** Sentence with the address and the number of rules. @param {Hooks} hooks @param {string} origin */
export function sentenceOf({ enabled, path, mappings }, origin) {
  if (!enabled) return texts.webhooksOffNothing;
  if (path === undefined) return texts.webhooksSwitchedBut;
  const rules = mappings.length === 0 ? texts.noMappingsYet : plural(mappings.length, texts.mappings);
  return texts.accepted({ origin, path, rules });
}

/** Counts of accepted deliveries that are not simply done. @param {Counts} counts */
export function countWords({ accepted, running, failed, expired }) {
  const parts = [
    [accepted, texts.waiting],
    [running, texts.running],
    [failed, texts.failed],
    [expired, texts.expired],
  ].flatMap(([count, word]) => (Number(count) > 0 ? [`${count} ${word}`] : []));
  return parts.length === 0 ? texts.nothingWaitsNothing : list(parts);
}

/** A word and a colour for where a delivery is. @param {Delivery} delivery @returns {{ word: string, level: "ok" | "info" | "warn" | "bad" | "busy" }} */
export function stateOf({ state, result, attempt }) {
  if (state === "accepted") return attempt > 0 ? { word: texts.triesAgain, level: "warn" } : { word: texts.waiting, level: "info" };
  if (state === "running") return { word: texts.running, level: "busy" };
  if (state === "expired") return { word: texts.expired, level: "bad" };
  if (state === "failed") return { word: texts.failed, level: "bad" };
  if (result?.status === "skipped") return { word: texts.skipped, level: "info" };
  return result?.status === "error" ? { word: texts.runFailed, level: "bad" } : { word: texts.done, level: "ok" };
}

/** Returns why it, or its last attempt, failed. @param {Delivery} delivery @returns {string | undefined} */
export function reasonOf({ result, steps }) {
  const said = [result?.reason, steps.run?.error, result?.code];
  return /** @type {string | undefined} */ (said.find((one) => typeof one === "string" && one !== ""));
}

/** Steps of a delivery outside of its run, one line each. @param {Delivery} delivery @returns {Array<{ name: string, text: string }>} */
export function stepsOf({ steps }) {
  const { run, deliver, summary, heartbeat } = steps;
  const lines = [
    run && { name: texts.run, text: run.status === "ok" ? texts.answered : texts.ended(String(run.code ?? run.status ?? texts.error)) },
    deliver && { name: texts.delivery, text: deliveryWords(deliver) },
    summary && { name: texts.summary, text: summary.as === "note" ? texts.leftNoteMain : texts.reportedMainSession },
    heartbeat && { name: texts.heartbeat, text: heartbeat.woken === true ? texts.asked : texts.notAsked },
  ];
  return /** @type {Array<{ name: string, text: string }>} */ (lines.filter(Boolean));
}

/** @param {Record<string, unknown>} deliver */
function deliveryWords({ state, because, error }) {
  if (typeof because === "string") return texts.notSent(because);
  if (typeof error === "string") return texts.failedWith(error);
  const words = /** @type {Record<string, string>} */ ({
    done: texts.sent,
    pending: texts.way,
    failed: texts.failed,
    expired: texts.expired,
  });
  return words[String(state)] ?? String(state ?? "tried");
}

/** Action that a person can take on a delivery. @param {Delivery} delivery @returns {"retry" | "drop" | undefined} */
export function actOf({ state, kind }) {
  if (kind === "wake") return undefined;
  if (state === "failed" || state === "expired") return "retry";
  return state === "accepted" ? "drop" : undefined;
}

/** "in 12 min", until the next try or the end of its time. @param {Delivery} delivery @param {number} now */
export function nextWords({ state, notBefore, expiresAt }, now) {
  if (state !== "accepted") return undefined;
  if (notBefore !== undefined && notBefore > now) return texts.nextTry(span(notBefore - now));
  return expiresAt > now ? texts.expires(span(expiresAt - now)) : undefined;
}

/** Credential that a path requires, in words. @param {Mapping["verify"]} verify */
export function doorWords(verify) {
  if (!verify) return "token";
  return verify.mode === "instead" ? texts.signature(verify.provider) : texts.tokenSignature(verify.provider);
}

/** Describes a mapping in words. @param {Mapping} mapping */
export function mappingWords({ action, agentId, forEach, transform, source, isUnsafe }) {
  const who = agentId === undefined ? texts.defaultAgent : texts.agent(agentId);
  const parts = [action === "wake" ? texts.wakes(who) : texts.runsAgent(who)];
  if (forEach !== undefined) parts.push(texts.oneEach(forEach));
  if (source !== undefined) parts.push(texts.onlySource(source));
  if (transform !== undefined) parts.push(transform);
  if (isUnsafe) parts.push(texts.payloadUnframed);
  return parts.join(" · ");
}

/**
 * A call for a shell. The token stays a variable: it is never shown here.
 * @param {string} address of the hooks
 * @param {string} path one that no signature opens
 */
export function callOf(address, path) {
  const bodies = /** @type {Record<string, string>} */ ({
    agent: `'{"message": "Say hello", "name": "Test"}'`,
    wake: `'{"text": "The build is red"}'`,
  });
  return `curl ${address}/${path} \\\n  -H "Authorization: Bearer $HOOK_TOKEN" \\\n  -d ${bodies[path] ?? "@payload.json"}`;
}

/** Shorter ones can be guessed: senders are tried from anywhere. */
const MIN_TOKEN = 16;

/** Problem of a token for senders; undefined for a good one. @param {string} token */
export function tokenProblem(token) {
  if (token === "") return texts.sendersNeedToken;
  if (/[^\x21-\x7e]/.test(token)) return texts.expectedLettersDigits;
  return token.length < MIN_TOKEN ? texts.expectedLeastCharacters(MIN_TOKEN) : undefined;
}

/** Problems of webhooks that no mapping already shows. @param {Hooks} hooks */
export function problemsOf({ problems, mappings }) {
  return problems.filter((problem) => !mappings.some(({ broken }) => broken !== undefined && problem.includes(broken)));
}
