import { z } from "svc/sdk";
import { agentId, count, epochMs, runId, sessionKey } from "../results/fields.ts";

/** Fields of every event of a run. */
const common = {
  runId,
  seq: z.number().int().min(1).describe("per run, from 1"),
  ts: epochMs,
  sessionKey,
  agentId,
  sessionId: z.string().exactOptional(),
  isHeartbeat: z.boolean().exactOptional(),
  spawnedBy: z.string().exactOptional(),
};

const lifecycle = z.discriminatedUnion("phase", [
  z
    .object({ phase: z.literal("queued"), position: z.number().int().min(1).describe("1: it is the next one") })
    .describe("all places for runs are taken (`agents.defaults.maxConcurrent`); sent again when it moves up"),
  z.object({ phase: z.literal("start"), startedAt: epochMs }),
  z.object({ phase: z.literal("model"), provider: z.string(), model: z.string() }),
  z
    .object({ phase: z.literal("waiting"), provider: z.string(), model: z.string(), silentMs: count.describe("at least") })
    .describe("the model that was asked says nothing; sent every 15 s"),
  z.object({
    phase: z.literal("end"),
    startedAt: epochMs.exactOptional().describe("absent for a run that never began"),
    endedAt: epochMs,
    aborted: z.boolean(),
    stopReason: z.string(),
  }),
  z.object({
    phase: z.literal("error"),
    startedAt: epochMs.exactOptional(),
    endedAt: epochMs,
    error: z.string(),
    aborted: z.boolean().exactOptional(),
  }),
]);

const call = { name: z.string(), toolCallId: z.string() };

const toolData = z.discriminatedUnion("phase", [
  z.object({ phase: z.literal("start"), ...call, args: z.unknown() }),
  z
    .object({ phase: z.literal("update"), ...call, partialResult: z.unknown() })
    .describe("progress of the tool, at most four times a second; `partialResult.content` is a list of texts"),
  z.object({
    phase: z.literal("result"),
    ...call,
    isError: z.boolean(),
    result: z.looseObject({ content: z.array(z.looseObject({ type: z.string() })) }),
    truncated: z.literal(true).exactOptional().describe("the result was larger than 64 KiB"),
  }),
]);

const assistant = z.object({
  text: z.string().describe("of the present message so far"),
  delta: z.string().describe("what was added"),
  itemId: z.string().exactOptional().describe("new for each message"),
  replace: z.literal(true).exactOptional().describe("earlier text changed"),
});

const reasoning = z.object({
  text: z.string().describe("thought for the present message so far"),
  delta: z.string().describe("what was added"),
  itemId: z.string().describe("of the message that is thought about"),
});

const toolInput = z.object({ toolCallId: z.string(), name: z.string(), delta: z.string().describe("further text of the arguments") });

const item = z.object({
  itemId: z.string(),
  kind: z.literal("tool"),
  name: z.string(),
  phase: z.enum(["start", "end"]),
  status: z.string(),
  title: z.string(),
  startedAt: epochMs,
  endedAt: epochMs.exactOptional(),
});

/** A tool call of a run. */
export const toolPayload = z.object({ ...common, stream: z.literal("tool"), data: toolData });

/** A step of a run, by `stream`. */
export const agentPayload = z.discriminatedUnion("stream", [
  z.object({ ...common, stream: z.literal("lifecycle"), data: lifecycle }),
  z.object({ ...common, stream: z.literal("assistant"), data: assistant }),
  z.object({ ...common, stream: z.literal("reasoning"), data: reasoning }),
  z.object({ ...common, stream: z.literal("toolInput"), data: toolInput }).describe("a call of a tool that the caller runs is written"),
  toolPayload,
  z.object({ ...common, stream: z.literal("item"), data: item }),
  z.object({
    ...common,
    stream: z.literal("compaction"),
    data: z.object({
      phase: z.enum(["start", "end"]),
      reason: z.enum(["threshold", "overflow"]).exactOptional().describe("the prompt was about to be too long, or its vendor refused it"),
      willRetry: z.boolean().exactOptional(),
      tokensBefore: count.exactOptional().describe("estimate of the prompt; absent when nothing became shorter"),
      tokensAfter: count.exactOptional(),
      warning: z.string().exactOptional().describe("why older messages became a list instead of a summary, or nothing became shorter"),
    }),
  }),
  z.object({ ...common, stream: z.literal("usage"), data: z.object({ outputTokens: count }) }),
]);
