/** Time in which requests may begin within one turn of the event loop. */
const TURN_MS = 10;

/** Resolves when the next request may begin; undefined: now. */
export type Pace = () => Promise<void> | undefined;

/**
 * Keeps requests from filling a turn of the event loop: handlers that wait for nothing would otherwise run one after the other, hundreds of them, before
 * anybody else is served. Once some have taken their time, each further one begins in a turn of its own, in order of arrival.
 * @param defer runs a function in the next turn
 */
export function createPace(now: () => number, defer: (fn: () => void) => void = setImmediate): Pace {
  let since: number | undefined;
  const waiting: Array<() => void> = [];
  const endTurn = () => {
    since = undefined;
  };
  const next = () => {
    waiting.shift()?.();
    if (waiting.length > 0) defer(next);
  };
  return () => {
    if (since === undefined) {
      since = now();
      defer(endTurn);
    }
    if (waiting.length === 0 && now() - since < TURN_MS) return undefined;
    return new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) defer(next);
    });
  };
}
