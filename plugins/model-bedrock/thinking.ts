import { type JsonObject, ModelError, type ModelRequest } from "svc/sdk";
import { claudeVersion } from "./vendor.ts";

/** Fields of the model about thinking; `budget`: tokens of thought, which count into the length of the answer. */
export interface Thinking {
  fields: JsonObject;
  budget?: number;
}

/** Words for efforts, ours and the vendor's. */
const efforts: Readonly<Record<string, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};
/** Tokens of thought for models that are given a budget. */
const budgets: Readonly<Record<string, number>> = { minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384, xhigh: 16_384, max: 16_384 };
/** Smallest budget that the vendor takes, and what is left for the answer at least. */
const MIN_TOKENS = 1_024;
const FIRST_ADAPTIVE = 406;

/**
 * How a Claude that reasons is asked to think; undefined: it is not. Pure.
 * @param limit longest answer of the model, thinking included
 * @throws {ModelError} for an effort that the vendor does not know
 */
export function thinkingOf(req: ModelRequest, limit = Number.POSITIVE_INFINITY): Thinking | undefined {
  const word = wordOf(req);
  if (word === undefined) return undefined;
  const version = claudeVersion(req.model);
  if (version >= FIRST_ADAPTIVE) {
    if (word === "off") return { fields: { thinking: { type: "disabled" } } };
    const effort = word === "xhigh" && version === FIRST_ADAPTIVE ? "max" : efforts[word];
    return { fields: { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } } };
  }
  const budget = Math.min(budgets[word] ?? 0, limit - MIN_TOKENS);
  if (budget < MIN_TOKENS || mustCall(req) || hasUnthoughtCalls(req.messages)) return undefined;
  return { fields: { thinking: { type: "enabled", budget_tokens: budget } }, budget };
}

function wordOf({ sampling, thinking: level }: ModelRequest): string | undefined {
  const effort = sampling?.reasoningEffort;
  if (effort === undefined) return level === "off" || (level !== undefined && Object.hasOwn(efforts, level)) ? level : undefined;
  if (effort === "none") return "off";
  if (Object.hasOwn(efforts, effort)) return effort;
  throw new ModelError(
    "invalid_request",
    `the reasoning effort ${JSON.stringify(effort.slice(0, 40))} is not known; expected one of none, ${Object.keys(efforts).join(", ")}`,
  );
}

function mustCall({ tools, toolChoice }: ModelRequest): boolean {
  return tools.length > 0 && (toolChoice === "required" || typeof toolChoice === "object");
}

/** True in the middle of a turn whose calls came without thinking of this vendor, as those of another model. */
function hasUnthoughtCalls(messages: ModelRequest["messages"]): boolean {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  return turn.some(({ role, content }: { role: string; content?: unknown }) => {
    const [first] = role === "assistant" ? (content as Array<{ type: string; meta?: JsonObject }>) : [];
    return first !== undefined && (first.type !== "reasoning" || first.meta?.bedrock === undefined);
  });
}
