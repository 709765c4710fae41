import { setFlagsFromString } from "node:v8";

/** V8 by itself lets a heap grow to up to four times what was alive after the last collection (`kMaxGrowingFactor` of its memory controller). */
const GROWTH_PERCENT = 30;

/**
 * Lets V8 collect old objects when they have grown by 30 % since the last time, in every thread of the process: a gateway lives for months on memory that
 * others want as well. A flag that a later V8 does not know is no failure: it prints a warning.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
