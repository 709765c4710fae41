import { setImmediate as nextTurn } from "node:timers/promises";

/** Work at a stretch. */
const TURN_MS = 2;

/** Ends with the last pause that somebody waits for: of several answers that are read at a time, one goes on in a turn. */
let lastPause: Promise<void> = Promise.resolve();

/**
 * A pause for use within a long piece of work.
 * @returns resolves in a turn of the event loop that no other pause ends in, when 2 ms have passed since the last one; undefined before
 */
export function createPauses(): () => Promise<void> | undefined {
  let start = performance.now();
  return () => {
    if (performance.now() - start < TURN_MS) return undefined;
    lastPause = lastPause.then(() => nextTurn());
    return lastPause.then(() => {
      start = performance.now();
    });
  };
}

/** Maps a list without holding up the event loop: after 2 ms of work others have their turn. */
export async function mapInTurns<T, R>(list: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const mapped: R[] = [];
  const pause = createPauses();
  for (const [i, item] of list.entries()) {
    mapped.push(map(item, i));
    const pausing = pause();
    if (pausing) await pausing;
  }
  return mapped;
}
