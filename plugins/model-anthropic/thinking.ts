import { ModelError } from "svc/sdk";

/**
 * How a model is asked to think: `adaptive` by an effort, `budget` by a number of tokens, `none` not at all.
 * Families by their ids, as the package knows them; a model of somebody else thinks by budget if the config says that it reasons.
 */
export type ThinkingStyle = "adaptive" | "budget" | "none";

type Effort = "low" | "medium" | "high" | "xhigh" | "max";

/** Options of the package about thinking, and the length of the answer beside it. */
export interface Thinking {
  maxOutputTokens: number;
  options: { thinking?: ThinkingOption; effort?: Effort };
}

type ThinkingOption = { type: "adaptive"; display: "summarized" } | { type: "enabled"; budgetTokens: number } | { type: "disabled" };

const withBudget = /claude-(?:3-7-|(?:opus|sonnet|haiku)-4-(?:[015]|20\d{6})(?!\d))/;
const withoutThinking = /claude-(?:instant|v?2|3-)/;
/** Know no `xhigh`; their highest effort is `max`. */
const withoutXhigh = /claude-(?:opus|sonnet)-4-6/;
const efforts: Readonly<Record<string, Effort>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};
const budgets: Readonly<Record<string, number>> = { minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384, xhigh: 16_384, max: 16_384 };
/** Smallest budget that the vendor takes, and what is left for the answer at least. */
const MIN_TOKENS = 1_024;

export function thinkingStyleOf(model: string, reasoning: boolean | undefined): ThinkingStyle {
  if (reasoning === false) return "none";
  if (withBudget.test(model)) return "budget";
  if (withoutThinking.test(model)) return "none";
  if (model.includes("claude-")) return "adaptive";
  return reasoning ? "budget" : "none";
}

export interface ThinkingRequest {
  model: string;
  style: ThinkingStyle;
  /** Level of the run: `off`, `minimal`, `low`, `medium`, `high`, `xhigh`. */
  level: string | undefined;
  /** In the vendor's own words; wins. */
  effort: string | undefined;
  /** Asked length of the answer. */
  maxTokens: number;
  /** Longest answer of the model, thinking included, as far as the config says it. */
  limit: number | undefined;
  /** The request has what the vendor refuses beside thinking by budget: a call that must be made, or calls that were made without thinking. */
  refusesBudget: boolean;
}

/** @throws {ModelError} for an effort that the vendor does not know */
export function toThinking(request: ThinkingRequest): Thinking {
  const { model, style, maxTokens, limit, refusesBudget } = request;
  const word = wordOf(request);
  const plain: Thinking = { maxOutputTokens: Math.min(maxTokens, limit ?? maxTokens), options: {} };
  if (word === undefined || style === "none") return plain;
  if (style === "adaptive") {
    if (word === "off") return { ...plain, options: { thinking: { type: "disabled" } } };
    const effort = efforts[word] as Effort;
    const known = effort === "xhigh" && withoutXhigh.test(model) ? "max" : effort;
    return { ...plain, options: { thinking: { type: "adaptive", display: "summarized" }, effort: known } };
  }
  const budgetTokens = Math.min(budgets[word] ?? 0, (limit ?? Number.POSITIVE_INFINITY) - MIN_TOKENS);
  if (refusesBudget || budgetTokens < MIN_TOKENS) return plain;
  // The package adds the budget to the length of the answer.
  const maxOutputTokens = Math.min(maxTokens, (limit ?? Number.POSITIVE_INFINITY) - budgetTokens);
  return { maxOutputTokens, options: { thinking: { type: "enabled", budgetTokens } } };
}

function wordOf({ level, effort }: ThinkingRequest): string | undefined {
  if (effort === undefined) return level === "off" || (level !== undefined && level in efforts) ? level : undefined;
  if (effort === "none") return "off";
  if (Object.hasOwn(efforts, effort)) return effort;
  throw new ModelError(
    "invalid_request",
    `the reasoning effort ${JSON.stringify(effort.slice(0, 40))} is not known; expected one of none, ${Object.keys(efforts).join(", ")}`,
  );
}
