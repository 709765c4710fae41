import { setImmediate as nextTurn } from "node:timers/promises";

/** Work at a stretch: several answers are read at a time, each takes its stretch in the same turn, and together they are not to be noticed. */
const TURN_MS = 2;

/**
 * A pause for use within a long piece of work.
 * @returns resolves after a turn of the event loop when 2 ms have passed since the last one, undefined before
 */
export function createPauses(): () => Promise<void> | undefined {
  let start = performance.now();
  return () => {
    if (performance.now() - start < TURN_MS) return undefined;
    return nextTurn().then(() => {
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
