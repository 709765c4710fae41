import { ModelError } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { infoOf } from "../models/catalog.ts";
import type { Candidate } from "../models/choice.ts";
import { MANY_ROWS } from "../sessions/read-transcript.ts";
import { type Budget, budgetOf, windowOf } from "./budget.ts";
import { compactRun } from "./compact-run.ts";
import { flushMemory } from "./memory-flush.ts";
import type { Prompt } from "./prompt.ts";
import type { Run } from "./run.ts";
import { messageTokens, requestTokens } from "./tokens.ts";
import { fitMessages } from "./transcript.ts";

/** Newest tokens of a conversation that stay word for word, and the part of the room that they take at most. */
const KEPT_TOKENS = 20_000;
const KEPT_PART = 0.4;
/** Part of a refused conversation that stays. */
const KEPT_AFTER_OVERFLOW = 1 / 3;

interface Request {
  candidate: Candidate;
  candidates: readonly Candidate[];
  prompt: Prompt;
}

/**
 * Makes room before a model is called: where prompt and reserve would not fit its window, older messages become a summary, after the agent had a chance to write
 * down what matters.
 */
export async function fitPrompt(run: Run, kit: Kit, { candidate, candidates, prompt }: Request): Promise<void> {
  const { budget, tokens } = await measure(run, kit, { candidate, prompt });
  prompt.room = budget.room;
  if (tokens <= budget.limit && prompt.messages.length <= MANY_ROWS) return;
  const keep = Math.min(KEPT_TOKENS, Math.floor(budget.room * KEPT_PART));
  const sizes = { keep, before: tokens, fixed: prompt.fixed };
  const messages = await compactRun(run, kit, {
    candidate,
    candidates,
    reason: "threshold",
    ...sizes,
    beforehand: () => flushMemory(run, kit, { candidate, prompt, fits: tokens <= budget.window }),
  });
  if (messages) prompt.messages = messages;
  // Turns that a caller brings with each request are not the gateway's to sum up.
  if ((run.request.unstoredTurns ?? 0) > 0) prompt.messages = fitMessages(prompt.messages, budget.room);
}

/** Learns from a refusal how long requests may be, and makes this one shorter; false when nothing can go. */
export async function shrinkAfterOverflow(
  run: Run,
  kit: Kit,
  { candidate, candidates, prompt, refusal }: Request & { refusal: string },
): Promise<boolean> {
  const { tokens } = await measure(run, kit, { candidate, prompt });
  kit.windows.learn(candidate, refusal, tokens);
  const { budget } = await measure(run, kit, { candidate, prompt });
  prompt.room = budget.room;
  const inMessages = prompt.messages.reduce((sum, message) => sum + messageTokens(message), 0);
  const keep = Math.min(KEPT_TOKENS, Math.floor(budget.room * KEPT_PART), Math.floor(inMessages * KEPT_AFTER_OVERFLOW));
  const sizes = { keep, before: tokens, fixed: prompt.fixed };
  const messages = await compactRun(run, kit, { candidate, candidates, reason: "overflow", ...sizes });
  const shorter = messages ?? fitMessages(prompt.messages, keep);
  if (!messages && (shorter.length === prompt.messages.length || (run.request.unstoredTurns ?? 0) === 0)) return false;
  prompt.messages = shorter;
  return true;
}

async function measure(
  run: Run,
  kit: Kit,
  { candidate, prompt }: Pick<Request, "candidate" | "prompt">,
): Promise<{ budget: Budget; tokens: number }> {
  const window = await windowOf(kit, run.agent.id, candidate);
  const answer = run.request.sampling?.maxTokens ?? infoOf(kit.catalog, candidate)?.maxTokens;
  const budget = budgetOf(window, { fixed: prompt.fixed, answer: Math.min(answer ?? 0, MAX_ANSWER_TOKENS) });
  const reader = { provider: candidate.provider.id, model: candidate.model };
  return { budget, tokens: await requestTokens(prompt.messages, reader, prompt.fixed) };
}

/** Answers are rarely as long as the longest that a model gives. */
const MAX_ANSWER_TOKENS = 32_768;

/** The vendor's refusal, and what of the request is how large. */
export function explainOverflow(error: ModelError, prompt: Prompt): ModelError {
  const sizes = prompt.messages.map((message) => messageTokens(message));
  const all = sizes.reduce((sum, tokens) => sum + tokens, 0);
  const largest = Math.max(0, ...sizes);
  const text = `${error.message}; system prompt and tools have about ${prompt.fixed} tokens, the messages ${all}, the largest of them ${largest}: shorten it, or begin anew with /new`;
  const { status, retryAfterMs } = error;
  return new ModelError(error.fault, text, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: error,
  });
}
