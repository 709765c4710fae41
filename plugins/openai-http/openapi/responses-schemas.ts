import { z } from "svc/sdk";
import { MAX_ITEMS } from "../item-limit.ts";
import { bodySchema } from "../responses/request.ts";
import { MAX_TOOLS } from "../tools.ts";
import { agentModel, anyObject, effort, functionName, name, sampling } from "./schema-registry.ts";

const chosen = z.object({ type: z.literal("function"), name: z.string() });
const toolChoice = z.union([
  z.enum(["auto", "none", "required"]),
  chosen,
  z.object({
    type: z.literal("allowed_tools"),
    mode: z.enum(["auto", "required"]).optional(),
    tools: z.array(chosen).min(1).max(MAX_TOOLS),
  }),
]);
const format = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({
    type: z.literal("json_schema"),
    name: functionName,
    description: z.string().nullish(),
    schema: anyObject,
    strict: z.boolean().nullish(),
  }),
]);
const { shape } = bodySchema;

export const responsesRequest = name(
  "ResponseRequest",
  z
    .object({
      ...shape,
      model: agentModel,
      input: z
        .union([z.string(), z.array(z.looseObject({ type: z.string().nullish(), role: z.string().nullish() })).max(MAX_ITEMS)])
        .describe("A text, or items: `message`, `function_call`, `function_call_output`, `reasoning`, `item_reference`."),
      instructions: shape.instructions.describe("Extend the system prompt of this run; not inherited by `previous_response_id`."),
      previous_response_id: shape.previous_response_id.describe(
        "Goes on in the session of that response, for 30 minutes and the same caller.",
      ),
      ...sampling,
      text: z.object({ format: format.nullish(), verbosity: z.enum(["low", "medium", "high"]).nullish() }).nullish(),
      reasoning: z.object({ effort: effort.nullish(), summary: z.string().max(64).nullish() }).nullish(),
      background: z.literal(false).nullish(),
      metadata: z.record(z.string().max(64), z.string().max(512)).nullish().describe("At most 16 pairs."),
      tools: z
        .array(
          z.object({
            type: z.literal("function"),
            name: functionName,
            description: z.string().nullish(),
            parameters: anyObject.nullish(),
            strict: z.boolean().nullish(),
          }),
        )
        .max(MAX_TOOLS)
        .nullish(),
      tool_choice: toolChoice.nullish(),
    })
    .describe("Fields that are not listed are passed over."),
);

const textPart = name(
  "OutputText",
  z.object({
    type: z.literal("output_text"),
    text: z.string(),
    annotations: z.array(z.unknown()).max(0),
    logprobs: z.array(z.unknown()).max(0),
  }),
);
const itemStatus = z.enum(["in_progress", "completed", "incomplete"]);
const message = name(
  "OutputMessage",
  z.object({
    type: z.literal("message"),
    id: z.string().regex(/^msg_/),
    role: z.literal("assistant"),
    status: itemStatus,
    phase: z.enum(["commentary", "final_answer"]).optional().describe("Left out while it is not known."),
    content: z.array(textPart).max(1),
  }),
);
const call = name(
  "FunctionCall",
  z.object({
    type: z.literal("function_call"),
    id: z.string().regex(/^fc_/),
    call_id: z.string().min(1).describe("The id to answer."),
    name: z.string(),
    arguments: z.string(),
    status: itemStatus.describe("`incomplete`: the arguments were cut off or are no JSON object."),
  }),
);
const item = name("OutputItem", z.union([message, call]));
const usage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});

export const responseObject = name(
  "Response",
  z.object({
    id: z.string().regex(/^resp_/),
    object: z.literal("response"),
    created_at: z.int(),
    completed_at: z.int().nullable(),
    status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
    incomplete_details: z.object({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
    model: z.string(),
    previous_response_id: z.string().nullable(),
    instructions: z.string().nullable(),
    output: z.array(item),
    error: z.object({ code: z.string(), message: z.string(), type: z.string(), param: z.null() }).nullable(),
    tools: z.array(
      z.object({
        type: z.literal("function"),
        name: z.string(),
        description: z.string().nullable(),
        parameters: anyObject.nullable(),
        strict: z.boolean().nullable(),
      }),
    ),
    tool_choice: toolChoice,
    truncation: z.enum(["auto", "disabled"]),
    parallel_tool_calls: z.boolean(),
    text: z.object({ format, verbosity: z.enum(["low", "medium", "high"]).optional() }),
    top_p: z.number(),
    presence_penalty: z.number(),
    frequency_penalty: z.number(),
    top_logprobs: z.int(),
    temperature: z.number(),
    reasoning: z.object({ effort: effort.nullable(), summary: z.string().nullable() }).nullable(),
    usage: usage.nullable(),
    max_output_tokens: z.int().nullable(),
    max_tool_calls: z.int().nullable(),
    store: z.boolean(),
    background: z.literal(false),
    service_tier: z.string(),
    metadata: z.record(z.string(), z.string()),
    safety_identifier: z.string().nullable(),
    prompt_cache_key: z.string().nullable(),
    user: z.string().nullable(),
  }),
);

const event = <T extends string, S extends z.ZodRawShape>(type: T, fields: S) =>
  z.object({ type: z.literal(type), sequence_number: z.int(), ...fields });
const inItem = { item_id: z.string(), output_index: z.int() };
const inPart = { ...inItem, content_index: z.int() };
const logprobs = z.array(z.unknown()).max(0);
const ofResponse = { response: responseObject };
const ofItem = { output_index: z.int(), item };

/** `data` of one event. */
export const responseEvent = name(
  "ResponseEvent",
  z
    .discriminatedUnion("type", [
      event("response.created", ofResponse),
      event("response.in_progress", ofResponse),
      event("response.output_item.added", ofItem),
      event("response.content_part.added", { ...inPart, part: textPart }),
      event("response.output_text.delta", { ...inPart, delta: z.string().min(1), logprobs }),
      event("response.output_text.done", { ...inPart, text: z.string(), logprobs }),
      event("response.content_part.done", { ...inPart, part: textPart }),
      event("response.function_call_arguments.delta", { ...inItem, delta: z.string() }),
      event("response.function_call_arguments.done", { ...inItem, name: z.string(), arguments: z.string() }),
      event("response.output_item.done", ofItem),
      event("response.completed", ofResponse),
      event("response.incomplete", ofResponse),
      event("response.failed", ofResponse),
      event("error", {
        error: z.object({ type: z.string(), code: z.string().nullable(), message: z.string(), param: z.null() }),
      }),
    ])
    .describe("`data` of one server-sent event, whose `event` line is its type; the last event is `data: [DONE]`."),
);
