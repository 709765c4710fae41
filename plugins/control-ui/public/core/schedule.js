import { request } from "./conn.js";
import { ofTab } from "./env.js";
import { createReading } from "./reading.js";

/**
 * State of the schedule view: jobs, and heartbeats of agents.
 *
 * @typedef {import("./schedule-facts.js").Job} Job
 * @typedef {import("./schedule-facts.js").Status} Status
 * @typedef {import("./schedule-facts.js").Plan} Plan
 * @typedef {import("./schedule-facts.js").Beat} Beat
 */

export const PAGE = 50;
/** Jobs that the gateway tells at once. */
const MOST_AT_ONCE = 200;
/** Age up to which `status` answers with what it found before. */
const SNAPSHOT_MS = 1_100;

export const jobs = createReading(readJobs);
export const heartbeats = createReading(readHeartbeats);

/** @param {{ q: string, limit: number }} question @returns {Promise<{ status: Status, rows: Job[], total: number }>} */
async function readJobs({ q, limit }) {
  const [status, first] = await Promise.all([request("cron.status"), readPage({ q, offset: 0, limit })]);
  const rows = [...first.jobs];
  // A page at a time, as far as somebody wants to see.
  while (rows.length < Math.min(limit, first.total)) {
    const { jobs: more } = await readPage({ q, offset: rows.length, limit: limit - rows.length });
    if (more.length === 0) break;
    rows.push(...more);
  }
  return { status, rows, total: first.total };
}

/** By name: an order by the next run would move rows under the pointer. @param {{ q: string, offset: number, limit: number }} page */
function readPage({ q, offset, limit }) {
  const query = q.trim() === "" ? {} : { query: q.trim() };
  return request("cron.list", { includeDisabled: true, sortBy: "name", offset, limit: Math.min(limit, MOST_AT_ONCE), ...query });
}

/** @returns {Promise<{ plans: Plan[], last: Beat | null }>} */
async function readHeartbeats() {
  const [status, last] = await Promise.all([request("status"), request("last-heartbeat")]);
  return { plans: status.heartbeat?.agents ?? [], last };
}

/** @param {Record<string, unknown>} job */
export function addJob(job) {
  return request("cron.add", job);
}

/** @param {string} id @param {Record<string, unknown>} patch */
export function updateJob(id, patch) {
  return request("cron.update", { id, patch });
}

/** @param {string} id */
export function removeJob(id) {
  return request("cron.remove", { id });
}

/** Runs a job now. @param {string} id @returns {Promise<boolean>} false when it runs already */
export async function runJob(id) {
  const answer = await request("cron.run", { id, mode: "force" });
  return answer.enqueued === true;
}

/** Last runs of a job, the newest first. @param {string} id @returns {Promise<{ entries: import("./schedule-facts.js").Run[], total: number }>} */
export function runsOf(id) {
  return request("cron.runs", { id, limit: 10 });
}

/** Sessions of runs are not kept for ever. @param {string} key @returns {Promise<boolean>} */
export async function hasSession(key) {
  return (await request("sessions.describe", { key })).session !== null;
}

/** Switches all heartbeats until the gateway ends. @param {boolean} enabled */
export async function setHeartbeats(enabled) {
  await request("set-heartbeats", { enabled });
  await new Promise((done) => setTimeout(done, SNAPSHOT_MS));
  await heartbeats.read();
}

/** Lets an agent look at something now. @param {string} agentId @param {string} text */
export function wake(agentId, text) {
  return request("wake", { mode: "now", agentId, text });
}

const DRAFT = "job-draft:";

/** Draft of a form that was not saved. @template {object} Draft @param {string} name id of a job, or `new` @param {Draft} fresh has every field @returns {Draft | undefined} */
export function keptDraft(name, fresh) {
  try {
    const found = JSON.parse(ofTab.get(DRAFT + name) ?? "null");
    return found === null ? undefined : { ...fresh, ...found };
  } catch {
    return undefined;
  }
}

/** @param {string} name @param {object} draft */
export function keepDraft(name, draft) {
  ofTab.set(DRAFT + name, JSON.stringify(draft));
}

/** @param {string} name */
export function forgetDraft(name) {
  ofTab.remove(DRAFT + name);
}
