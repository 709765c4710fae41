import { type HookPreset, type JsonObject, withLimit } from "svc/sdk";
import { toStrictJson } from "svc/sdk/internal";
import { toTransformError } from "../transforms/faults.ts";
import { toTransformResult } from "../transforms/result.ts";
import type { TransformCall } from "./mapping.ts";

/** Longest call of a preset's function: code of a plugin, in the gateway's own process. */
const LIMIT_MS = 5_000;

/** A function of a preset in the form of a transform file: the same limits of time and of what it may answer. */
export function presetTransform(name: string, run: NonNullable<HookPreset["transforms"]>[string]): TransformCall {
  return async (context, { signal }) => {
    try {
      signal.throwIfAborted();
      const call = (async () => run({ ...context, url: new URL(context.url) }))();
      const answer = await withLimit(call, LIMIT_MS, tooLate, signal);
      const text = toStrictJson(answer);
      return toTransformResult(name, text === undefined ? undefined : (JSON.parse(text) as JsonObject | null));
    } catch (error) {
      throw toTransformError(name, error, signal);
    }
  };
}

function tooLate(): never {
  throw new Error(`no answer within ${LIMIT_MS} ms`);
}
