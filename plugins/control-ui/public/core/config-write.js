import { texts } from "../texts/parts.js";
import { request } from "./conn.js";

/**
 * Reading and writing of the config, for every view that does.
 *
 * @typedef {{ path: string, message: string }} Issue
 * @typedef {{ path: string, exists: boolean, raw: string, parsed?: any, config?: any, valid: boolean, hash: string, issues: Issue[], warnings: Issue[],
 *   pendingRestart: string[] }} Config
 * @typedef {{ hash: string, action: "none" | "hot" | "restart" | "persisted", pendingRestart: string[], issues?: Issue[] }} Written
 */

/** @returns {Promise<Config>} */
export function readConfig() {
  return request("config.get");
}

/** A write waits until the change is applied. */
const WRITE_MS = 60_000;

/** @typedef {{ replacePaths?: string[] | undefined, note?: string }} PatchOptions `replacePaths`: lists and objects that are meant to shrink or go */

/**
 * Patches the config as it was read; a `CONFLICT` when somebody else wrote in between.
 * @param {object} patch @param {string} baseHash @param {PatchOptions} [options]
 * @returns {Promise<Written>}
 */
export function patchConfig(patch, baseHash, { replacePaths = [], note = "control UI" } = {}) {
  const lists = replacePaths.length === 0 ? {} : { replacePaths };
  return request("config.patch", { raw: JSON.stringify(patch), baseHash, note, ...lists }, { timeoutMs: WRITE_MS });
}

/**
 * Patches the config as it stands in the file. A write that came in between is read and patched anew, so nothing of it is lost.
 * @param {(written: any) => { patch: object } & PatchOptions} make from the config in the file
 * @returns {Promise<Written>}
 * @throws {Error} when the gateway refuses it, or has written it and could not apply it
 */
export async function changeConfig(make) {
  for (let isSecond = false; ; isSecond = true) {
    const { hash, parsed } = await readConfig();
    const { patch, ...options } = make(parsed);
    try {
      const written = await patchConfig(patch, hash, options);
      const [issue] = written.issues ?? [];
      if (issue) throw new Error(texts.writtenDownBut({ path: issue.path, message: issue.message }));
      return written;
    } catch (error) {
      if (isSecond || !isConflict(error)) throw error;
    }
  }
}

/** @param {string} raw @param {string} baseHash @returns {Promise<Written>} */
export function applyConfig(raw, baseHash) {
  return request("config.apply", { raw, baseHash, note: "control UI" }, { timeoutMs: WRITE_MS });
}

/** True when somebody else has written the config since it was read. @param {unknown} error */
export function isConflict(error) {
  return /** @type {{ detailCode?: string }} */ (error).detailCode === "CONFLICT";
}

/** Places that the gateway names in a refusal. @param {unknown} error @returns {Issue[]} */
export function issuesOf(error) {
  const { details, message } = /** @type {{ details?: { issues?: Issue[], path?: string }, message: string }} */ (error);
  if (Array.isArray(details?.issues)) return details.issues;
  return typeof details?.path === "string" ? [{ path: details.path, message }] : [];
}

/** Outcome of a write, as a sentence. @param {Written} written */
export function outcomeOf({ action, pendingRestart, issues }) {
  if (issues && issues.length > 0) return texts.savedButNot(issues[0]?.message);
  if (action === "none") return texts.nothingDifferedNothing;
  if (action === "restart") return pendingRestart.length > 0 ? texts.savedTakesEffect : texts.savedGatewayRestarts;
  return texts.savedApplied;
}

/** Starts the gateway anew, once what it does has ended. @param {string} reason */
export function requestRestart(reason) {
  return request("gateway.restart.request", { reason });
}
