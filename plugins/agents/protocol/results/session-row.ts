import { z } from "svc/sdk";
import { agentId, count, durationMs, epochMs, sessionKey } from "./fields.ts";

const text = z.string();

/** One session in lists and events. */
export const sessionRow = z
  .object({
    key: sessionKey,
    sessionId: text.exactOptional().describe("of the present transcript"),
    agentId,
    kind: z.enum(["direct", "group", "global", "unknown"]),
    chatType: text.exactOptional(),
    channel: text.exactOptional(),
    label: text.exactOptional(),
    displayName: text.exactOptional(),
    derivedTitle: text.exactOptional(),
    lastMessagePreview: text.exactOptional(),
    createdAt: epochMs,
    updatedAt: epochMs,
    lastInteractionAt: epochMs.exactOptional(),
    lastActivityAt: epochMs.exactOptional(),
    status: z.enum(["queued", "running", "done", "failed", "killed", "timeout", "interrupted"]).exactOptional(),
    startedAt: epochMs.exactOptional(),
    endedAt: epochMs.exactOptional(),
    runtimeMs: durationMs.exactOptional(),
    lastRunId: text.exactOptional(),
    abortedLastRun: z.boolean().exactOptional(),
    hasActiveRun: z.boolean(),
    activeRunIds: z.array(text).exactOptional(),
    category: text.exactOptional(),
    thinkingLevel: text.exactOptional(),
    verboseLevel: text.exactOptional(),
    reasoningLevel: text.exactOptional(),
    elevatedLevel: text.exactOptional(),
    fastMode: z.boolean().exactOptional(),
    responseUsage: text.exactOptional(),
    sendPolicy: z.enum(["allow", "deny"]).exactOptional(),
    groupActivation: z.enum(["mention", "always"]).exactOptional(),
    queueMode: z.enum(["steer", "followup", "collect", "interrupt"]).exactOptional(),
    execHost: text.exactOptional(),
    execSecurity: text.exactOptional(),
    execAsk: text.exactOptional(),
    model: text.exactOptional(),
    modelProvider: text.exactOptional(),
    contextTokens: count.exactOptional(),
    inputTokens: count.exactOptional().describe("of all requests of this transcript"),
    outputTokens: count.exactOptional().describe("of all answers of this transcript"),
    totalTokens: count
      .exactOptional()
      .describe("of the last request and its answer: how full the context is; an estimate after a compaction"),
    cost: z.number().min(0).exactOptional().describe("in US dollars, of this transcript, as far as prices are known; absent: none is"),
    totalTokensFresh: z.boolean(),
    parentSessionKey: sessionKey.exactOptional(),
    spawnedBy: text.exactOptional(),
    archived: z.boolean(),
    pinned: z.boolean(),
    unread: z.boolean(),
    snapshotAt: epochMs,
  })
  .meta({ id: "SessionRow" });
