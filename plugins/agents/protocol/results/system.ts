import { z } from "svc/sdk";
import { agentId, done, durationMs, epochMs, sessionKey } from "./fields.ts";

/** Outcome of one heartbeat of an agent. */
export const heartbeat = z
  .object({
    ts: epochMs,
    agentId: agentId.exactOptional(),
    sessionKey: sessionKey.exactOptional(),
    status: z.enum(["sent", "ok-empty", "ok-token", "skipped", "failed"]),
    reason: z.string().exactOptional(),
    preview: z.string().max(200).exactOptional(),
    durationMs: durationMs.exactOptional(),
    channel: z.string().exactOptional(),
    to: z.string().exactOptional(),
    accountId: z.string().exactOptional(),
    hasMedia: z.boolean().exactOptional(),
    silent: z.boolean().exactOptional(),
    indicatorType: z.enum(["ok", "alert", "error"]).exactOptional(),
  })
  .meta({ id: "Heartbeat" });

/** Answers about heartbeats and what agents are told between them. */
export const systemResults = {
  "system-event": done,
  wake: z.object({
    ok: z.literal(true),
    mode: z.enum(["now", "next-heartbeat"]),
    eventOutcome: z.enum(["queued", "coalesced"]).describe("`coalesced`: the same text waits already"),
  }),
  "last-heartbeat": heartbeat.nullable(),
  "set-heartbeats": z.object({ ok: z.literal(true), enabled: z.boolean() }),
};
