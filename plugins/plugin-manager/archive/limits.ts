/** Limits for the content of one plugin, packed or as a folder. */
export interface ContentLimits {
  entries: number;
  /** Maximum size of all files together. */
  bytes: number;
  /** Bytes unpacked for each byte packed. */
  ratio: number;
}

export const contentLimits: ContentLimits = { entries: 10_000, bytes: 268_435_456, ratio: 100 };

/** Counts what comes in and names the first limit that is passed. */
export function createContentCounter(limits: ContentLimits, packedBytes?: number): { entry(): void; bytes(count: number): void } {
  let entries = 0;
  let total = 0;
  const most = packedBytes === undefined ? limits.bytes : Math.min(limits.bytes, packedBytes * limits.ratio);
  return {
    entry() {
      entries += 1;
      if (entries > limits.entries) throw new Error(`it has more than ${limits.entries} entries`);
    },
    bytes(count) {
      total += count;
      if (total <= most) return;
      throw new Error(
        most < limits.bytes ? `it unpacks to more than ${limits.ratio} times its size` : `it holds more than ${limits.bytes} bytes`,
      );
    },
  };
}
