import type { SessionCounters, Usage } from "svc/sdk";
import { toNanos } from "../models/cost.ts";

/** Returns what a session adds for requests of a model; without a price its cost stays as it is. */
export function usageCounters({ input, cacheRead, cacheWrite, output, cost }: Usage): SessionCounters {
  return {
    inputTokens: input + cacheRead + cacheWrite,
    outputTokens: output,
    ...(cost === undefined ? {} : { costNanos: toNanos(cost) }),
  };
}
