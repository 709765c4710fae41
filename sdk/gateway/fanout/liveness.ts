/** Is the peer of a connection still there? Told by pings and pongs (`protocol.md` 1, `reliability.md` R-17). */
export interface Liveness {
  /** What to do now, asked once per ping interval. */
  beat(): "ping" | "wait" | "gone";
  /** The ping has left for the network; from now on its pong is due. */
  written(): void;
  pong(): void;
}

/** Timers are not exact, and a ping takes a moment to be written. */
const TOLERANCE_MS = 1_000;

/**
 * A pong is due within `windowMs` of a ping that was written. A ping that waits behind unsent frames proves nothing: such a peer is the
 * matter of the slow-consumer rules.
 */
export function createLiveness(windowMs: number, monotonic: () => number): Liveness {
  let state: { at: "idle" | "queued" } | { at: "due"; since: number } = { at: "idle" };
  return {
    beat() {
      if (state.at === "due") return monotonic() - state.since >= windowMs - TOLERANCE_MS ? "gone" : "wait";
      if (state.at === "queued") return "wait";
      state = { at: "queued" };
      return "ping";
    },
    written() {
      if (state.at === "queued") state = { at: "due", since: monotonic() };
    },
    pong() {
      state = { at: "idle" };
    },
  };
}
