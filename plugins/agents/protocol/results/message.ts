import { z } from "svc/sdk";
import { count, epochMs, runId, usage } from "./fields.ts";

const block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z
    .object({ type: z.literal("reasoning"), text: z.string(), redacted: z.literal(true).exactOptional() })
    .describe("reasoning of the model; `redacted`: its vendor keeps it sealed"),
  z.object({
    type: z.literal("file"),
    mimeType: z.string(),
    data: z.string().describe("base64; empty when it was left out"),
    fileName: z.string().exactOptional(),
  }),
  z.object({ type: z.literal("toolCall"), id: z.string(), name: z.string(), arguments: z.unknown() }),
  z.object({ type: z.literal("image"), mimeType: z.string().exactOptional(), data: z.string().exactOptional() }),
]);

/** A message of a session as people see it. */
export const message = z
  .object({
    role: z.enum(["user", "assistant", "toolResult"]),
    content: z.union([z.string(), z.array(block)]),
    timestamp: epochMs,
    toolCallId: z.string().exactOptional(),
    toolName: z.string().exactOptional(),
    isError: z.boolean().exactOptional(),
    details: z.unknown().optional().describe("machine-readable form of a tool result"),
    sender: z
      .object({
        id: z.string().describe("on its platform; nobody else can take it on"),
        name: z.string().exactOptional().describe("as the platform tells it; it may change hands"),
        channel: z.string().exactOptional(),
      })
      .exactOptional()
      .describe("person on a channel who wrote it; one printable line each"),
    stopReason: z.string().exactOptional(),
    aborted: z.boolean().exactOptional(),
    usage: usage.exactOptional(),
    provider: z.string().exactOptional(),
    model: z.string().exactOptional(),
    truncated: z.literal(true).exactOptional().describe("too large to show"),
    __svc: z.object({
      id: z.string(),
      seq: count.describe("place in the session, from 1"),
      runId: runId.exactOptional(),
      kind: z.string().exactOptional(),
    }),
  })
  .meta({ id: "Message" });

/** The visible text of an assistant so far. */
export const shownText = z
  .object({
    role: z.literal("assistant"),
    content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
    timestamp: epochMs,
  })
  .meta({ id: "ShownText" });
