/** Is the peer of a connection still there? Told by pings and pongs. */
export interface Liveness {
  /** Next action, asked once per ping interval. */
  beat(): "ping" | "wait" | "gone";
  /** The ping has left for the network; from now on its pong is due. */
  written(): void;
  pong(): void;
}

/** Timers are not exact, and a ping takes a moment to be written. */
const TOLERANCE_MS = 1_000;

/**
 * A pong is due within `windowMs` of a ping that was written. A ping that waits behind unsent frames proves nothing as long as some of them leave; when
 * none leaves in that time, nobody reads there.
 *
 * @param progress bytes that have left so far
 */
export function createLiveness(windowMs: number, monotonic: () => number, progress: () => number): Liveness {
  let state: { at: "idle" } | { at: "queued"; since: number; mark: number } | { at: "due"; since: number } = { at: "idle" };
  return {
    beat() {
      const now = monotonic();
      if (state.at === "idle") {
        state = { at: "queued", since: now, mark: progress() };
        return "ping";
      }
      if (state.at === "queued" && progress() !== state.mark) state = { at: "queued", since: now, mark: progress() };
      return now - state.since >= windowMs - TOLERANCE_MS ? "gone" : "wait";
    },
    written() {
      if (state.at === "queued") state = { at: "due", since: monotonic() };
    },
    pong() {
      state = { at: "idle" };
    },
  };
}
