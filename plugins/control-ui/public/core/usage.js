import { request } from "./conn.js";
import { createReading } from "./reading.js";

/** State of the usage view. */

const MOST_SESSIONS = 10;

export const usage = createReading(readUsage);

/**
 * @param {{ by: string, days: number }} question
 * @returns {Promise<{ summary: import("./usage-facts.js").Usage, sessions: import("./usage-facts.js").SessionUsage[] }>}
 */
async function readUsage({ by, days }) {
  const [summary, { sessions }] = await Promise.all([
    request("usage.summary", { by, days }),
    request("usage.sessions", { limit: MOST_SESSIONS }),
  ]);
  return { summary, sessions };
}
