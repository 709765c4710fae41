import type { ModelProvider, SvcConfig } from "svc/sdk";

const DEFAULT_MS = 120_000;

/** Longest wait for the first event of a model's answer, and between two of them, in milliseconds. */
export function silenceLimits(
  config: SvcConfig,
  { id, firstAnswerMs = DEFAULT_MS }: Pick<ModelProvider, "id" | "firstAnswerMs">,
): { firstMs: number; idleMs: number } {
  const entry = config.models.providers[id];
  const firstMs = entry?.timeoutSeconds === undefined ? firstAnswerMs : entry.timeoutSeconds * 1_000;
  return { firstMs, idleMs: entry?.silenceSeconds === undefined ? firstMs : entry.silenceSeconds * 1_000 };
}
