import { texts } from "../texts/audit.js";
import { count, plural } from "./format.js";

/**
 * Facts shown about what agents and operators did. Pure.
 *
 * @typedef {{ seq: number, at: number, action: string, actor: { kind: "operator" | "agent" | "gateway", id: string, remote?: string }, target?: string,
 *   outcome: "ok" | "error", details?: Record<string, string | number | boolean>, hash: string }} Entry
 * @typedef {{ ok: boolean, checked: number, from: number, head: { seq: number, hash: string }, problem?: { seq: number, reason: string } }} Verdict
 */

/** Groups of actions that are offered as filters: the beginning of their names, and a word. */
export const actionGroups = /** @type {const} */ ([
  ["", texts.everything],
  ["tool.", texts.tools],
  ["message.", texts.messages],
  ["approval.", texts.approvals],
  ["config.", texts.config],
  ["plugin", texts.plugins],
  ["device.", texts.devices],
  ["operator.", texts.signIns],
  ["gateway.", texts.gateway],
]);

const deviceId = /^[0-9a-f]{64}$/;

/** Author of an act; a device has a long id, of which the beginning tells it from others. @param {Entry["actor"]} actor */
export function actorWords({ kind, id, remote }) {
  const name = kind === "gateway" ? texts.gatewayWord : deviceId.test(id) ? texts.device(id.slice(0, 8)) : `${kind} ${id}`;
  return remote === undefined ? name : texts.actorFrom({ name, remote });
}

/** Everything that an entry holds beyond its row. @param {Entry} entry @returns {Array<[string, string]>} */
export function factsOf({ seq, hash, actor, details = {} }) {
  return [
    ...Object.entries(details).map(([name, value]) => /** @type {[string, string]} */ ([name, String(value)])),
    ["actor", actor.id],
    ["entry", count(seq)],
    ["hash", hash],
  ];
}

/** Outcome of a check in a sentence. @param {Verdict} verdict */
export function verdictWords({ ok, checked, from, head, problem }) {
  if (!ok)
    return texts.chainBrokenEntry({
      what: problem === undefined ? "?" : count(problem.seq),
      reason: problem?.reason ?? texts.noReasonGiven,
    });
  const since = from > 0 ? texts.entry(count(from + 1)) : "";
  return texts.checkedNoneChanged({ replace: plural(checked, texts.entries).replace("entrys", "entries"), since, seq: count(head.seq) });
}
