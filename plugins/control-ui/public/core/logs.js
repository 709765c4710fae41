import { request } from "./conn.js";
import { isBehind, lineOf, MOST_ROWS, withJump, withTail } from "./log-facts.js";
import { createReading } from "./reading.js";

/** Newest lines of the log, followed by cursor. @typedef {import("./log-facts.js").LogState} LogState */

const FIRST = { limit: 1_000, maxBytes: 500_000 };
const NEXT = { limit: MOST_ROWS, maxBytes: 1_000_000 };
/** Answers that are read one after the other before those that came meanwhile are skipped. */
const MOST_READS = 3;
/** Lines that are read in one piece; after each the page draws, and takes what somebody types. */
const SLICE = 200;

/** @type {LogState | undefined} */
let state;
let isReading = false;

export const log = createReading(readOn);

/** Reads on, unless that is under way: two readers would tell every line twice. */
export async function readLog() {
  if (isReading) return;
  isReading = true;
  try {
    await log.read();
  } finally {
    isReading = false;
  }
}

async function readOn() {
  for (let reads = 0; reads < MOST_READS; reads++) {
    const before = state;
    const tail = await request("logs.tail", before ? { ...NEXT, cursor: before.cursor } : FIRST);
    const next = withTail(before, tail, await linesOf(tail));
    state = next;
    // The page draws it in a task of its own.
    await nextTask();
    if (!isBehind(before, tail)) return next;
  }
  const last = /** @type {LogState} */ (state);
  const tail = await request("logs.tail", FIRST);
  const next = withJump(last, tail, await linesOf(tail));
  state = next;
  return next;
}

/** Lines of an answer, read a few at a time. @param {import("./log-facts.js").Tail} tail */
async function linesOf({ lines }) {
  const read = [];
  for (let from = 0; from < lines.length; from += SLICE) {
    await nextTask();
    for (const raw of lines.slice(from, from + SLICE)) read.push(lineOf(raw));
  }
  await nextTask();
  return read;
}

function nextTask() {
  return new Promise((done) => setTimeout(done));
}
