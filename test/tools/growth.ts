/** CPU time of a piece of work in milliseconds, the least of several runs: other programs on the machine can only add to it. */
export function cpuMs(work: () => unknown, runs = 3): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** The work for one size. What it needs is prepared by the function that returns it, outside the measurement. */
export type Work = (size: number) => () => unknown;

export interface GrowthOptions {
  from: number;
  /** Largest size that is tried. Work that is still cheap there is not superlinear by any measure. */
  to: number;
  /** CPU time from which on a measurement means something. */
  floorMs?: number;
}

/** Factor between the two sizes that are compared. */
const STEP = 8;
/** A ratio above this is measured again: a garbage collection or a neighbour on the machine does not come three times. */
const DOUBTFUL = 2;

/** Largest value of `growth` that a test should accept: linear work stays far below, quadratic work far above. */
export const LINEAR = 4;

/**
 * Says how much dearer one unit of input gets when the input grows eightfold: about 1 for linear work, 8 for quadratic, 64 for cubic; compare it
 * with `LINEAR`. Sizes double until the work is long enough to be measured, so that a slow machine only starts from a smaller size.
 */
export function growth(work: Work, { from, to, floorMs = 8 }: GrowthOptions): number {
  work(from)(); // compiled before it is measured
  let size = from;
  let small = cpuMs(work(size));
  while (small < floorMs && size * STEP < to) {
    size *= 2;
    small = cpuMs(work(size));
  }
  let ratio = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3 && ratio > DOUBTFUL; i++) {
    const large = cpuMs(work(size * STEP));
    if (large < floorMs) return 1;
    small = Math.max(small, cpuMs(work(size)));
    ratio = Math.min(ratio, large / small / STEP);
  }
  return ratio;
}
