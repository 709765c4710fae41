/**
 * Counts frames that could not be read.
 * @returns tells of one more; true when there were `max` within `windowMs`
 */
export function createBadFrames({ max, windowMs }: { max: number; windowMs: number }, monotonic: () => number): () => boolean {
  let times: number[] = [];
  return () => {
    const now = monotonic();
    times = [...times.filter((t) => t > now - windowMs), now];
    return times.length >= max;
  };
}
