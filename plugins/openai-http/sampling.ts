import type { ModelSampling } from "svc/sdk";
import { badRequest } from "./errors.ts";

type Fields = Record<string, unknown>;

/**
 * The fields that steer the model. Pure.
 * @throws {SvcError} `v1-bad-request`
 */
export function parseSampling(fields: Fields): ModelSampling {
  const maxCompletionTokens = positiveInteger(fields, "max_completion_tokens");
  const maxTokens = maxCompletionTokens ?? positiveInteger(fields, "max_tokens");
  if (maxCompletionTokens !== undefined) positiveInteger(fields, "max_tokens");
  const sampling: { [K in keyof ModelSampling]: ModelSampling[K] | undefined } = {
    maxTokens,
    temperature: inRange(fields, "temperature", [0, 2]),
    topP: inRange(fields, "top_p", [0, 1]),
    frequencyPenalty: inRange(fields, "frequency_penalty", [-2, 2]),
    presencePenalty: inRange(fields, "presence_penalty", [-2, 2]),
    seed: integer(fields, "seed"),
    stop: parseStop(fields.stop),
    reasoningEffort: parseEffort(fields.reasoning_effort),
    parallelToolCalls: parseBoolean(fields, "parallel_tool_calls"),
    responseFormat: parseResponseFormat(fields.response_format),
  };
  return Object.fromEntries(Object.entries(sampling).filter(([, value]) => value !== undefined)) as ModelSampling;
}

function inRange(fields: Fields, name: string, [min, max]: [number, number]): number | undefined {
  const value = fields[name];
  if (value == null) return undefined;
  if (typeof value !== "number" || !(value >= min && value <= max)) throw badRequest(`\`${name}\` must be between ${min} and ${max}.`);
  return value;
}

function integer(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value == null) return undefined;
  if (!Number.isSafeInteger(value)) throw badRequest(`\`${name}\` must be an integer.`);
  return value as number;
}

function positiveInteger(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value == null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw badRequest(`\`${name}\` must be a positive integer.`);
  return value as number;
}

/** Levels of `reasoning_effort` and the thinking levels of agents they come nearest to. */
const thinkingLevels = { none: "off", minimal: "minimal", low: "low", medium: "medium", high: "high", xhigh: "high" } as const;
type Effort = keyof typeof thinkingLevels;

export function thinkingOf(effort: string | undefined): string | undefined {
  return effort === undefined ? undefined : thinkingLevels[effort as Effort];
}

/** @throws {SvcError} `v1-bad-request` */
export function parseEffort(value: unknown, name = "reasoning_effort"): string | undefined {
  if (value == null) return undefined;
  if (typeof value === "string" && Object.hasOwn(thinkingLevels, value)) return value;
  throw badRequest(`\`${name}\` must be one of ${Object.keys(thinkingLevels).join(", ")}.`);
}

function parseBoolean(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value == null) return undefined;
  if (typeof value !== "boolean") throw badRequest(`\`${name}\` must be true or false.`);
  return value;
}

const MAX_STOPS = 4;

function parseStop(value: unknown): string[] | undefined {
  if (value == null) return undefined;
  const stops = Array.isArray(value) ? value : [value];
  if (!stops.every((stop) => typeof stop === "string" && stop !== ""))
    throw badRequest("Invalid stop: expected a string or non-empty strings.");
  if (stops.length > MAX_STOPS) throw badRequest(`Invalid stop: at most ${MAX_STOPS} strings.`);
  return stops.length === 0 ? undefined : stops;
}

function parseResponseFormat(value: unknown): ModelSampling["responseFormat"] {
  if (value == null) return undefined;
  const format = value as { type?: unknown; json_schema?: { name?: unknown; schema?: unknown; strict?: unknown } | null };
  switch (format.type) {
    case "text":
    case "json_object":
      return { type: format.type };
    case "json_schema": {
      const { name, schema, strict } = format.json_schema ?? {};
      if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
        throw badRequest("Invalid response_format: json_schema.schema must be an object.");
      }
      return {
        type: "json_schema",
        schema: schema as Record<string, unknown>,
        ...(typeof name === "string" ? { name } : {}),
        ...(typeof strict === "boolean" ? { strict } : {}),
      };
    }
    default:
      throw badRequest("Invalid response_format: type must be text, json_object or json_schema.");
  }
}
