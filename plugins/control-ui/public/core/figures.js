import { signal } from "@preact/signals";
import { onEvent, onOnline, request } from "./conn.js";
import { charts, createRing, EVERY_MS, lastMinute, waitingRuns } from "./figures-facts.js";
import { running } from "./sessions.js";
import { isOnline, memory } from "./store.js";

/**
 * Figures of the gateway since the page began to look, in memory only: asked for while somebody sees them, and counted from events.
 *
 * @typedef {import("./figures-facts.js").EndedRun} EndedRun
 */

/** Runs that ended within the last minute; of more than these the oldest are not counted. */
const MAX_ENDED = 5_000;
const MAX_STARTED = 1_000;

const ring = createRing(charts.map(({ figure }) => figure));
/** Rises with each point. */
export const points = signal(0);

/** @type {EndedRun[]} */
let ended = [];
/** Tokens that a session had used when its run began. @type {Map<string, { sessionId: string | undefined, tokens: number }>} */
const started = new Map();
/** Epoch ms; events before it are not known. */
let since = Number.POSITIVE_INFINITY;
/** Documents that are not in an index yet, by agent. @type {Map<string, number>} */
const unindexed = new Map();

onOnline(() => {
  since = Date.now();
  ended = [];
  started.clear();
  unindexed.clear();
});
onEvent("sessions.changed", ({ sessionKey, phase, session }) => {
  if (!sessionKey || !session || !phase) return;
  const { sessionId, inputTokens = 0, outputTokens = 0 } = session;
  const tokens = inputTokens + outputTokens;
  if (phase === "start") {
    if (started.size < MAX_STARTED) started.set(sessionKey, { sessionId, tokens });
    return;
  }
  const before = started.get(sessionKey);
  started.delete(sessionKey);
  const used = before && before.sessionId === sessionId ? Math.max(0, tokens - before.tokens) : 0;
  ended.push({ at: Date.now(), tokens: used });
  if (ended.length > MAX_ENDED) ended = ended.slice(-MAX_ENDED / 2);
});
onEvent("memory.progress", ({ agentId, phase, done, total }) => {
  if (phase === "done" || phase === "error") unindexed.delete(agentId);
  else if (unindexed.size < MAX_STARTED) unindexed.set(agentId, Math.max(0, total - done));
});

/** @param {import("./figures-facts.js").Figure} figure */
export function columnOf(figure) {
  void points.value;
  return ring.column(figure);
}

let followers = 0;
/** @type {ReturnType<typeof setInterval> | undefined} */
let timer;

/** Measures while somebody looks. Returns how to end that. */
export function followFigures() {
  followers += 1;
  if (followers === 1) {
    void measure();
    timer = setInterval(measure, EVERY_MS);
  }
  return () => {
    followers -= 1;
    if (followers === 0) clearInterval(timer);
  };
}

let isAsking = false;

async function measure() {
  if (isAsking || document.visibilityState !== "visible" || !isOnline.peek()) return;
  isAsking = true;
  try {
    const { eventLoop, memory: used } = await request("health", {}, { timeoutMs: 2 * EVERY_MS });
    const left = memory.peek() === undefined ? undefined : [...unindexed.values()].reduce((sum, one) => sum + one, 0);
    const now = Date.now();
    ended = ended.filter(({ at }) => now - at < 2 * 60_000);
    const counted = lastMinute(ended, { now, since });
    ring.push(now, {
      delay: eventLoop?.delayP99Ms,
      rss: used?.rssBytes,
      waiting: waitingRuns(running.peek()),
      unindexed: left,
      ...counted,
    });
  } catch {
    // Nothing was measured: that is the gap.
    ring.push(Date.now(), {});
  } finally {
    isAsking = false;
    points.value += 1;
  }
}
