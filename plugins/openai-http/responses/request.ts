import { formatIssues, type JsonSchema, type ModelSampling, z } from "svc/sdk";
import { badRequest } from "../errors.ts";
import { checkItemCount } from "../item-limit.ts";
import { parseEffort, parseSampling, thinkingOf } from "../sampling.ts";
import type { ClientTools } from "../tools.ts";
import { parseResponseTools, type ResponseTools } from "./tools.ts";

const MAX_METADATA_PAIRS = 16;
const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_PAIRS, `expected at most ${MAX_METADATA_PAIRS} pairs`);

/** An entry of `input`; everything but its shape is checked where it is used. */
const inputItem = z.looseObject({ type: z.string().nullish(), role: z.string().nullish() });

export const bodySchema = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(inputItem)], { error: "expected string or array" }),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  text: z.looseObject({ format: z.unknown().optional(), verbosity: z.enum(["low", "medium", "high"]).nullish() }).nullish(),
  user: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  metadata: metadata.nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().max(64).nullish() }).nullish(),
  store: z.boolean().nullish(),
  background: z.boolean().nullish(),
  truncation: z.enum(["auto", "disabled"]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_tool_calls: z.int().min(1).nullish(),
  service_tier: z.string().max(64).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  include: z.array(z.string()).nullish(),
  safety_identifier: z.string().max(512).nullish(),
  prompt_cache_key: z.string().max(512).nullish(),
});

type Body = z.infer<typeof bodySchema>;

export type InputItem = z.infer<typeof inputItem>;

/** Fields of the response object that repeat the request; what was not sent has the default of the API. */
export type Echo = ReturnType<typeof echoOf>;

/** A request of `/v1/responses`, checked; the content of its input is read by `toResponsesTurn`. */
export interface ResponsesRequest extends ClientTools {
  model: string;
  input: string | InputItem[];
  instructions: string;
  stream: boolean;
  user: string | undefined;
  previousResponseId: string | undefined;
  /** False: nobody goes on with the response or refers to it. */
  isStored: boolean;
  sampling: ModelSampling;
  /** Level of `reasoning.effort`. */
  thinking: string | undefined;
  echo: Echo;
}

/**
 * Checks a request body; null counts as absent, unknown fields are ignored. Pure.
 * @throws {SvcError} `v1-bad-request` with the first thing that is wrong
 */
export function parseResponsesRequest(body: unknown): ResponsesRequest {
  checkItemCount(body, "input");
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) {
    const text = formatIssues(parsed.error.issues.slice(0, 1));
    throw badRequest(text.replace(/^at root: /, "body: ").replace(/^at /, ""));
  }
  const fields = parsed.data;
  refuseUnserved(fields);
  const format = parseFormat(fields.text?.format);
  const tools = parseResponseTools(fields.tools, fields.tool_choice);
  const { clientTools, demand } = tools;
  const { temperature, top_p, presence_penalty, frequency_penalty, parallel_tool_calls } = fields;
  const effort = parseEffort(fields.reasoning?.effort, "reasoning.effort");
  return {
    model: fields.model,
    input: fields.input,
    instructions: fields.instructions?.trim() ?? "",
    stream: fields.stream ?? false,
    user: fields.user ? fields.user : undefined,
    previousResponseId: fields.previous_response_id ?? undefined,
    isStored: fields.store !== false,
    sampling: {
      ...parseSampling({ temperature, top_p, presence_penalty, frequency_penalty, parallel_tool_calls }),
      ...(effort === undefined ? {} : { reasoningEffort: effort }),
      ...(fields.max_output_tokens == null ? {} : { maxTokens: fields.max_output_tokens }),
      ...(format.sampling === undefined ? {} : { responseFormat: format.sampling }),
    },
    thinking: thinkingOf(effort),
    clientTools,
    demand,
    echo: echoOf(fields, tools, format.echo),
  };
}

/** Fields of the API that would change what the request means, and that nothing serves. */
function refuseUnserved(fields: Body): void {
  if (fields.background) throw badRequest("background: is not supported; leave it out and use `stream`");
  if (fields.conversation != null) throw badRequest("conversation: is not supported; use `previous_response_id` or `user`");
  if (fields.prompt != null) throw badRequest("prompt: stored prompts are not supported; send the text in `instructions`");
}

interface Format {
  sampling: ModelSampling["responseFormat"];
  echo: object;
}

/** @throws {SvcError} `v1-bad-request` */
function parseFormat(value: unknown): Format {
  if (value == null) return { sampling: undefined, echo: { type: "text" } };
  const format = value as { type?: unknown; name?: unknown; description?: unknown; schema?: unknown; strict?: unknown };
  if (format.type === "text" || format.type === "json_object") return { sampling: { type: format.type }, echo: { type: format.type } };
  if (format.type !== "json_schema") throw badRequest("text.format.type: expected text, json_object or json_schema");
  const { name, schema, strict, description } = format;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) throw badRequest("text.format.schema: expected object");
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    throw badRequest("text.format.name: expected 1 to 64 letters, digits, _ or -");
  const isStrict = typeof strict === "boolean" ? strict : undefined;
  return {
    sampling: { type: "json_schema", name, schema: schema as JsonSchema, ...(isStrict === undefined ? {} : { strict: isStrict }) },
    echo: { type: "json_schema", name, description: description ?? null, schema, strict: isStrict ?? false },
  };
}

function echoOf(fields: Body, tools: ResponseTools, format: object) {
  return {
    instructions: fields.instructions ?? null,
    tools: tools.echo.tools,
    tool_choice: tools.echo.toolChoice,
    truncation: fields.truncation ?? "disabled",
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    text: { format, ...(fields.text?.verbosity ? { verbosity: fields.text.verbosity } : {}) },
    top_p: (fields.top_p as number | null | undefined) ?? 1,
    presence_penalty: (fields.presence_penalty as number | null | undefined) ?? 0,
    frequency_penalty: (fields.frequency_penalty as number | null | undefined) ?? 0,
    top_logprobs: fields.top_logprobs ?? 0,
    temperature: (fields.temperature as number | null | undefined) ?? 1,
    reasoning: { effort: fields.reasoning?.effort ?? null, summary: fields.reasoning?.summary ?? null },
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    store: fields.store ?? false,
    background: false,
    service_tier: fields.service_tier ?? "default",
    metadata: fields.metadata ?? {},
    safety_identifier: fields.safety_identifier ?? null,
    prompt_cache_key: fields.prompt_cache_key ?? null,
    user: fields.user ?? null,
  };
}
