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
/** A ratio above this is measured again. */
const DOUBTFUL = 2;
const ATTEMPTS = 6;

/** Largest value of `growth` that a test should accept: linear work stays far below, quadratic work far above. */
export const LINEAR = 4;

/**
 * Says how much dearer one unit of input gets when the input grows eightfold: about 1 for linear work, 8 for quadratic, 64 for cubic; compare it
 * with `LINEAR`. Sizes double until the work is long enough to be measured, so that a slow machine only starts from a smaller size.
 *
 * A large size may be the first that the garbage collector interrupts, which makes each unit dearer once and never again. So a ratio that is too
 * high is compared with the growth from half the large size to the whole of it, and the lesser of the two counts.
 */
export function growth(work: Work, { from, to, floorMs = 8 }: GrowthOptions): number {
  work(from)(); // compiled before it is measured
  let size = from;
  while (size * STEP < to && cpuMs(work(size), 1) < floorMs) size *= 2;
  let small = cpuMs(work(size));
  while (small < floorMs && size * STEP < to) {
    size *= 2;
    small = cpuMs(work(size));
  }
  let large = Number.POSITIVE_INFINITY;
  for (let i = 0; i < ATTEMPTS && large / small / STEP > DOUBTFUL; i++) {
    // One run is enough where it is cheap: nothing makes work look cheaper than it is.
    large = Math.min(large, cpuMs(work(size * STEP), i === 0 ? 1 : 3));
    if (large < floorMs) return 1;
    small = Math.max(small, cpuMs(work(size)));
  }
  const ratio = large / small / STEP;
  if (ratio < LINEAR) return ratio;
  const half = cpuMs(work((size * STEP) / 2));
  return Math.min(ratio, (large / half / 2) ** Math.log2(STEP));
}
