import { readFileSync } from "node:fs";

/**
 * Watches for the longest step of this thread: the time between two turns of the event loop, as a timer of a millisecond sees it. Where Linux tells it, a step
 * counts no longer than the CPU time that the thread spent in it (in ticks of about 4 ms): on a busy machine it waits for a core, which is no fault of the code.
 */
export function watchSteps() {
  let longestMs = 0;
  let before = { at: performance.now(), cpuMs: threadCpuMs() };
  const look = () => {
    const now = { at: performance.now(), cpuMs: threadCpuMs() };
    longestMs = Math.max(longestMs, Math.min(now.at - before.at, now.cpuMs - before.cpuMs));
    before = now;
  };
  const timer = setInterval(look, 1);
  return {
    /** @returns milliseconds */
    end() {
      clearInterval(timer);
      return longestMs;
    },
  };
}

function threadCpuMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
