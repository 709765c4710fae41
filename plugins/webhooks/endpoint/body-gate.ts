import { addressBucket } from "svc/sdk/internal";

/** Bodies of callers that have not proved themselves yet: of one address, and of all, which bounds the memory they take. */
const MAX_OF_ADDRESS = 16;
const MAX_OF_ALL = 64;

export interface BodyGate {
  /** Room for one more body, until it is given back; undefined when there is none. */
  enter(address: string): (() => void) | undefined;
}

/** Slow bodies that fill it keep out others of the same address only, as far as the memory allows. */
export function createBodyGate(): BodyGate {
  const byAddress = new Map<string, number>();
  let all = 0;
  return {
    enter(address) {
      const bucket = addressBucket(address);
      const own = byAddress.get(bucket) ?? 0;
      if (own >= MAX_OF_ADDRESS || all >= MAX_OF_ALL) return undefined;
      byAddress.set(bucket, own + 1);
      all += 1;
      return () => {
        const left = (byAddress.get(bucket) ?? 1) - 1;
        if (left > 0) byAddress.set(bucket, left);
        else byAddress.delete(bucket);
        all -= 1;
      };
    },
  };
}
