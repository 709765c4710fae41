import { ModelError } from "svc/sdk";

/** How a model is asked to think: by a `level`, by a `budget` of tokens, or not at all. */
export type ThinkingStyle = "level" | "budget" | "none";

export type ThinkingConfig =
  | { includeThoughts?: true; thinkingLevel: "minimal" | "low" | "medium" | "high" }
  | { includeThoughts?: true; thinkingBudget: number };

type Level = "off" | "minimal" | "low" | "medium" | "high";

const levels: Readonly<Record<string, Level>> = {
  none: "off",
  off: "off",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};
const budgets: Readonly<Record<Level, number>> = { off: 0, minimal: 512, low: 2_048, medium: 8_192, high: 24_576 };
/** The least that models think which cannot stop. */
const MIN_BUDGET = 128;

/** By the family that the id of a model names; one of somebody else thinks if the config says that it reasons. */
export function thinkingStyleOf(model: string, reasoning: boolean | undefined): ThinkingStyle {
  if (reasoning === false) return "none";
  if (/gemini-2\.5/.test(model)) return "budget";
  if (/gemini-(?:1|2|exp|pro-vision)\b/.test(model)) return "none";
  return model.includes("gemini-") || reasoning ? "level" : "none";
}

/**
 * The vendor's words for a level of the run, or for an effort, which wins.
 * @throws {ModelError} for an effort that is not known
 */
export function toThinkingConfig(
  model: string,
  { style, level, effort }: { style: ThinkingStyle; level: string | undefined; effort: string | undefined },
): ThinkingConfig | undefined {
  const word = effort ?? level;
  const known = word !== undefined && Object.hasOwn(levels, word) ? levels[word] : undefined;
  if (effort !== undefined && known === undefined) throw unknownEffort(effort);
  if (known === undefined || style === "none") return undefined;
  const isPro = /\bpro\b/.test(model);
  const shown = known === "off" ? {} : { includeThoughts: true as const };
  if (style === "budget") return { ...shown, thinkingBudget: isPro ? Math.max(MIN_BUDGET, budgets[known]) : budgets[known] };
  const least = isPro ? "low" : "minimal";
  return { ...shown, thinkingLevel: known === "off" || known === "minimal" ? least : known };
}

function unknownEffort(effort: string): ModelError {
  const words = Object.keys(levels).join(", ");
  return new ModelError(
    "invalid_request",
    `the reasoning effort ${JSON.stringify(effort.slice(0, 40))} is not known; expected one of ${words}`,
  );
}
