import { request } from "./conn.js";
import { createReading } from "./reading.js";

/** State of the audit view. */

export const PAGE = 50;
/** Most entries that the gateway tells at once. */
export const MOST = 500;

export const audit = createReading(
  /** @param {{ action: string, actor: string, limit: number }} question @returns {Promise<{ entries: import("./audit-facts.js").Entry[], nextBefore?: number }>} */
  ({ action, actor, limit }) =>
    request("audit.list", {
      limit: Math.min(limit, MOST),
      ...(action === "" ? {} : { action }),
      ...(actor.trim() === "" ? {} : { actor: actor.trim() }),
    }),
);

/** Follows the chain of hashes from its beginning to its end. @returns {Promise<import("./audit-facts.js").Verdict>} */
export function verify() {
  return request("audit.verify");
}
