import { z } from "svc/sdk";

/** Milliseconds since the Unix epoch. */
export const epochMs = z.number().int().min(0);
/** A duration in whole milliseconds. */
export const durationMs = z.number().int().min(0);
/** A count. */
export const count = z.number().int().min(0);
/** Id of an agent. */
export const agentId = z.string().min(1);
/** Always in full: `agent:<id>:<key>`. */
export const sessionKey = z.string().min(1);
/** Id of a run: the idempotency key of the request that asked for it. */
export const runId = z.string().min(1);
/** Nothing more to tell than that it was done. */
export const done = z.object({ ok: z.literal(true) });

/** Tokens of one run or message. */
export const usage = z
  .object({
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    reasoning: count.exactOptional(),
    total: count,
    cost: z.number().min(0).exactOptional().describe("in US dollars; absent when a price is not known"),
  })
  .meta({ id: "Usage" });
