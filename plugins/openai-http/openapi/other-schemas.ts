import { z } from "svc/sdk";
import { MAX_INPUTS } from "../embeddings-request.ts";
import { MAX_KEY_CHARS } from "../tools-invoke/request.ts";
import { agentModel, anyObject, name } from "./schema-registry.ts";

export const model = name(
  "Model",
  z.object({
    id: z.string(),
    object: z.literal("model"),
    created: z.literal(0),
    owned_by: z.literal("svc"),
    permission: z.array(z.unknown()).max(0),
  }),
);
export const modelList = name("ModelList", z.object({ object: z.literal("list"), data: z.array(model) }));

export const embeddingsRequest = name(
  "EmbeddingsRequest",
  z.object({
    model: agentModel,
    input: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_INPUTS)])
      .describe("Embedded as documents. Token arrays are refused: another model's tokenizer made them."),
    encoding_format: z.enum(["float", "base64"]).nullish().describe("`base64`: little-endian float32."),
    dimensions: z.int().min(1).nullish(),
  }),
);
export const embeddingsAnswer = name(
  "Embeddings",
  z.object({
    object: z.literal("list"),
    data: z.array(z.object({ object: z.literal("embedding"), index: z.int(), embedding: z.union([z.array(z.number()), z.string()]) })),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  }),
);

export const toolRequest = name(
  "ToolRequest",
  z
    .object({
      name: z.string().nullish(),
      tool: z.string().nullish().describe("The same as `name`, which wins."),
      args: z.unknown().optional().describe("Anything but an object stands for no arguments."),
      action: z.string().nullish().describe("Becomes an argument for a tool that has one of this name."),
      agentId: z.string().nullish(),
      sessionKey: z.string().nullish().describe("Default: the main session of the agent."),
      idempotencyKey: z.string().max(MAX_KEY_CHARS).nullish(),
      dryRun: z.boolean().nullish().describe("Everything is checked, nothing runs."),
    })
    .describe("One of `name` and `tool` is required."),
);
export const toolAnswer = name(
  "ToolAnswer",
  z.object({
    ok: z.literal(true),
    dryRun: z.literal(true).optional(),
    result: z
      .object({ content: z.array(z.object({ type: z.literal("text"), text: z.string() })), details: z.unknown().optional() })
      .nullable(),
  }),
);
export const toolFailure = name(
  "ToolFailure",
  z.object({
    ok: z.literal(false),
    error: z.object({
      type: z.enum(["invalid_request", "tool_error", "tool_call_blocked", "not_found"]),
      message: z.string(),
    }),
  }),
);

export const live = name("Live", z.object({ ok: z.literal(true), status: z.literal("live") }));
export const readiness = name(
  "Readiness",
  z
    .object({
      ready: z.boolean(),
      phase: z.enum(["starting", "plugins", "ready", "safe-mode", "draining", "stopped"]).optional(),
      failing: z.array(z.string()).optional(),
      problems: z.record(z.string(), z.string()).optional().describe("Part → why it fails."),
      uptimeMs: z.int().optional(),
      eventLoop: z.object({ degraded: z.boolean(), delayP99Ms: z.number(), delayMaxMs: z.number(), utilization: z.number() }).optional(),
    })
    .describe("Local callers without a proxy, and authenticated ones, get more than `ready`."),
);
export const openApi = name("OpenApiDocument", anyObject.describe("This document."));
