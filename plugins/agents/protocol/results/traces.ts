import { z } from "svc/sdk";
import { agentId, count, durationMs, epochMs, runId, sessionKey, usage } from "./fields.ts";

const text = z.string();
const modelRef = text.describe("`provider/model`");
const toolChoice = z.union([z.enum(["auto", "none", "required"]), z.object({ name: text })]);
const args = z.unknown().optional().describe("as the model wrote them; a text when they were cut");
const call = z.object({ name: text, arguments: args });

const attempt = z.object({
  turn: count,
  provider: text,
  model: text,
  at: epochMs,
  ms: durationMs,
  messages: count.describe("messages that were sent; 0: the provider was not asked"),
  isWithoutTools: z.literal(true).exactOptional().describe("the agent's own tools were left out"),
  isLast: z.literal(true).exactOptional().describe("it had to answer without tools"),
  toolChoice: toolChoice.exactOptional(),
  finish: text.exactOptional(),
  toolCalls: count.exactOptional(),
  usage: usage.exactOptional(),
  fault: text.exactOptional().describe("class of the fault; `aborted`: the run was stopped"),
  error: text.exactOptional(),
});

const toolUse = z.object({
  id: text,
  name: text,
  turn: count.exactOptional(),
  at: epochMs.exactOptional(),
  ms: durationMs.exactOptional(),
  waitedMs: durationMs.exactOptional().describe("part of it before the tool ran: checks and approvals"),
  arguments: args,
  result: text.exactOptional().describe("as the model read it; absent when it is no longer stored"),
  isError: z.literal(true).exactOptional(),
});

const promptMessage = z.object({
  role: z.enum(["user", "assistant", "tool"]),
  text,
  reasoning: text.exactOptional(),
  calls: z.array(call).exactOptional(),
  name: text.exactOptional().describe("tool whose result it is"),
  isError: z.boolean().exactOptional(),
  media: count.exactOptional().describe("pictures and files that went with it"),
  isCut: z.literal(true).exactOptional().describe("its text is not stored in full any more"),
});

const prompt = z.object({
  turn: count,
  model: modelRef,
  system: text,
  systemChars: count,
  tools: z.array(z.object({ name: text, description: text, inputSchema: z.unknown() })),
  toolChoice: toolChoice.exactOptional(),
  thinking: text.exactOptional(),
  sampling: z.unknown().optional(),
  messages: z.array(promptMessage).describe("oldest first"),
  messageCount: count,
  isExact: z.boolean().describe("but for masked secrets, cuts to `maxChars` and pictures this is what was sent"),
  notes: z.array(text).describe("what is not as it was sent, in words"),
});

const explained = z.object({
  runId,
  agentId,
  sessionKey,
  sessionId: text,
  trigger: text,
  acceptedAt: epochMs,
  startedAt: epochMs,
  endedAt: epochMs,
  durationMs,
  status: z.enum(["ok", "error"]),
  code: text.exactOptional(),
  error: text.exactOptional(),
  stopReason: text,
  model: modelRef.exactOptional().describe("that answered last"),
  usage,
  joined: z.array(runId).exactOptional().describe("runs whose messages it answered, too"),
  asked: text,
  answer: text.describe("the last text of the run"),
  attempts: z.array(attempt),
  asides: z.array(z.object({ what: z.enum(["summary", "notes", "question"]), usage })).describe("requests beside the conversation"),
  remarks: z.array(text).describe("what plugins said about what they did to the prompt"),
  tools: z.array(toolUse),
  sources: z.array(
    z.object({
      path: text,
      startLine: count.exactOptional(),
      endLine: count.exactOptional(),
      score: z.number().exactOptional(),
      tool: text,
    }),
  ),
  prompt: prompt.exactOptional().describe("absent when no model was asked"),
  notes: z.array(text),
});

const replayed = z.object({
  replayId: text.describe("id of the run in figures of usage"),
  runId,
  original: z.object({ model: modelRef.exactOptional(), answer: text, calls: z.array(call), usage, durationMs }),
  replay: z.object({
    model: modelRef,
    answer: text,
    turns: z.array(z.object({ turn: count, ms: durationMs, finish: text, usage })),
    calls: z.array(call),
    usage,
    durationMs,
    stopped: z
      .object({
        reason: z.enum(["tool", "fault", "turns", "timeout"]),
        tool: text.exactOptional(),
        arguments: args,
        error: text.exactOptional(),
      })
      .exactOptional()
      .describe("why there is no answer; `tool`: it wanted a call whose result was never recorded"),
  }),
  isSame: z.boolean().describe("both answers are the same text"),
  isExact: z.boolean().describe("the prompt is the one that was sent, but for masked secrets"),
  notes: z.array(text),
});

/** Answers about the traces of runs. */
export const tracesResults = { "sessions.explain": explained, "runs.replay": replayed };
