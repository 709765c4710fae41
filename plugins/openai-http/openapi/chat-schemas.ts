import { z } from "svc/sdk";
import { MAX_ITEMS, MAX_PARTS } from "../item-limit.ts";
import { MAX_TOOLS } from "../tools.ts";
import { agentModel, anyObject, effort, error, functionName, name, sampling } from "./schema-registry.ts";

const textPart = z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() });
const imagePart = z.object({
  type: z.literal("image_url"),
  image_url: z
    .union([z.string(), z.object({ url: z.string() })])
    .describe("A `data:` address; an http(s) URL only where the config allows it."),
});
const refusalPart = z.object({ type: z.literal("refusal"), refusal: z.string() });

const filePart = z.object({
  type: z.literal("file"),
  file: z
    .object({ file_data: z.string(), filename: z.string().optional() })
    .describe("Of user messages only; `file_data` is a `data:` URL or base64."),
});
const audioPart = z.object({
  type: z.literal("input_audio"),
  input_audio: z
    .object({ data: z.string(), format: z.enum(["wav", "mp3"]) })
    .describe("Of user messages only, for a model that takes audio."),
});

const call = name(
  "ChatToolCall",
  z.object({
    id: z.string(),
    type: z.literal("function"),
    function: z.object({
      name: z.string(),
      arguments: z.string().describe("JSON; text that is none when the model was cut off, then with `finish_reason` `length`."),
    }),
  }),
);
const givenCall = z.object({ id: z.string().min(1), function: z.object({ name: z.string().min(1), arguments: z.unknown().optional() }) });

const message = name(
  "ChatMessage",
  z.object({
    role: z.string().describe("`system`, `developer`, `user`, `assistant`, `tool` or `function`; messages of others are passed over."),
    content: z.union([z.string(), z.array(z.union([textPart, imagePart, filePart, audioPart, refusalPart])).max(MAX_PARTS)]).nullish(),
    name: z.string().optional().describe("Of role `function`: the tool."),
    tool_calls: z.array(givenCall).max(MAX_PARTS).nullish(),
    tool_call_id: z.string().optional().describe("Of role `tool`: the call that it answers."),
  }),
);

const functionSpec = z.object({
  name: functionName,
  description: z.string().nullish(),
  parameters: anyObject.nullish().describe("A JSON Schema."),
  strict: z.boolean().nullish(),
});
const responseFormat = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.object({ name: z.string().optional(), schema: anyObject, strict: z.boolean().optional() }),
  }),
]);

export const chatRequest = name(
  "ChatCompletionRequest",
  z
    .object({
      model: agentModel.nullish(),
      messages: z.array(message).max(MAX_ITEMS).describe("The last `user` or `tool` message is the turn, those before it are history."),
      stream: z.boolean().nullish(),
      stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
      user: z.string().nullish().describe("A stable session; without it each request stands alone."),
      ...sampling,
      max_completion_tokens: z.int().min(1).nullish(),
      max_tokens: z.int().min(1).nullish(),
      seed: z.int().nullish(),
      stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(4)]).nullish(),
      n: z.literal(1).nullish(),
      logprobs: z.literal(false).nullish(),
      reasoning_effort: effort.nullish(),
      response_format: responseFormat.nullish(),
      tools: z
        .array(z.object({ type: z.literal("function"), function: functionSpec }))
        .max(MAX_TOOLS)
        .nullish(),
      tool_choice: z
        .union([z.enum(["auto", "none", "required"]), z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) })])
        .nullish(),
      functions: z.array(functionSpec).nullish().describe("The legacy form of `tools`."),
      function_call: z.union([z.enum(["auto", "none"]), z.object({ name: z.string() })]).nullish(),
    })
    .describe("Fields that are not listed are passed over."),
);

const usage = name(
  "ChatUsage",
  z.object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int() }).optional(),
    completion_tokens_details: z.object({ reasoning_tokens: z.int() }).optional(),
  }),
);
const finishReason = z.enum(["stop", "length", "tool_calls", "content_filter", "function_call"]);
const legacyCall = call.shape.function;

export const chatAnswer = name(
  "ChatCompletion",
  z.object({
    id: z.string().regex(/^chatcmpl_/),
    object: z.literal("chat.completion"),
    created: z.int().describe("Unix time in seconds."),
    model: z.string(),
    choices: z
      .array(
        z.object({
          index: z.literal(0),
          message: z.object({
            role: z.literal("assistant"),
            content: z.string(),
            refusal: z.null(),
            reasoning_content: z.string().optional().describe("What the model thought aloud."),
            tool_calls: z.array(call).optional(),
            function_call: legacyCall.optional(),
          }),
          logprobs: z.null(),
          finish_reason: finishReason,
        }),
      )
      .length(1),
    usage,
  }),
);

const delta = z.object({
  role: z.literal("assistant").optional(),
  content: z.string().min(1).optional(),
  reasoning_content: z.string().min(1).optional(),
  tool_calls: z
    .array(
      z.object({
        index: z.int(),
        id: z.string().optional(),
        type: z.literal("function").optional(),
        function: z.object({ name: z.string().optional(), arguments: z.string() }),
      }),
    )
    .optional(),
  function_call: z.object({ name: z.string().optional(), arguments: z.string() }).optional(),
});

const chunk = name(
  "ChatCompletionChunk",
  z.object({
    id: z.string().regex(/^chatcmpl_/),
    object: z.literal("chat.completion.chunk"),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.object({ index: z.literal(0), delta, finish_reason: finishReason.nullable() })).max(1),
    usage: usage.optional(),
  }),
);

/** `data` of one event. */
export const chatEvent = name(
  "ChatCompletionEvent",
  z
    .union([chunk, error])
    .describe("`data` of one server-sent event; the last event is `data: [DONE]`. After 15 s of silence a comment line goes out."),
);
