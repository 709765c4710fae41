import { methodSpec, z } from "svc/sdk";
import { runId, sessionKey } from "./fields.ts";

const maxChars = z.number().int().min(100).max(1_000_000).optional().describe("longest text of each message, argument and result");

/** Why a run said what it said. */
export const tracesMethods = {
  "sessions.explain": methodSpec(
    "read",
    "how a run came to its answer: the prompt as it was sent, attempts, tools, sources, tokens and cost, secrets masked; by `runId`, or the newest run of a session that has ended",
    z
      .strictObject({
        runId: runId.optional(),
        sessionKey: sessionKey.optional(),
        newest: z.number().int().min(1).max(50).optional().describe("with `sessionKey`: 2 is the run before the newest"),
        turn: z.number().int().min(1).max(1_000).optional().describe("turn whose prompt is shown; default: the last"),
        maxChars,
      })
      .refine((p) => (p.runId === undefined) !== (p.sessionKey === undefined), "expected one of runId and sessionKey")
      .refine((p) => p.newest === undefined || p.sessionKey !== undefined, "newest is counted in a session: expected sessionKey"),
  ),
  "runs.replay": methodSpec(
    "write",
    "asks another model what a run asked, without side effects: no tool runs, recorded results are used, nothing is stored in a session or delivered",
    z.strictObject({
      runId,
      model: z.string().min(1).max(256),
      timeoutMs: z.number().int().min(1_000).max(1_800_000).optional(),
      maxChars,
    }),
  ),
} as const;
