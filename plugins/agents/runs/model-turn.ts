import { isModelError, ModelError, type ModelRequest, sleep } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { withFailover } from "../models/attempts.ts";
import { infoOf } from "../models/catalog.ts";
import type { Candidate } from "../models/choice.ts";
import { withCost } from "../models/cost.ts";
import { silenceLimits } from "../models/silence.ts";
import { readTurn, type TurnOptions, type TurnResult } from "../models/turn.ts";
import type { Asked } from "../traces/run-trace.ts";
import { explainOverflow, fitPrompt, shrinkAfterOverflow } from "./fit-prompt.ts";
import { loggedCall } from "./logged-call.ts";
import { type Prompt, withText } from "./prompt.ts";
import { forModel } from "./replay-to-model.ts";
import type { Run } from "./run.ts";

/** Said to a model that may call no more tools. */
export const LAST_TURN = "System: You have used all turns with tools. Answer now with what you know, and say what is missing.";

interface Turn {
  candidates: readonly Candidate[];
  prompt: Prompt;
  isFirst: boolean;
  /** No more tools: the model has to answer. */
  isLast: boolean;
}

/** One answer of a model, from whichever candidate gives one. @throws {ModelError}, or the run's abort reason */
export async function modelTurn(run: Run, kit: Kit, turn: Turn): Promise<TurnResult> {
  const { candidates, prompt } = turn;
  const shrunk = new Set<Candidate>();
  run.trace.nextTurn();
  const windowOf = (candidate: Candidate) => infoOf(kit.catalog, candidate)?.contextWindow ?? 0;
  try {
    const { value } = await withFailover({
      candidates,
      cooldown: kit.cooldown,
      isCurrent: ({ provider }) => kit.catalog.provider(provider.id) === provider,
      attempt: (candidate, { isLast: isLastCandidate }) => answerOf(run, kit, { ...turn, candidate, isLastCandidate }),
      isVisible: () => run.itemText !== "" || run.hasToolInput,
      mayFailover: () => !run.visible,
      shrink: (candidate, error) => {
        if (shrunk.has(candidate)) return false;
        shrunk.add(candidate);
        return shrinkAfterOverflow(run, kit, { candidate, candidates, prompt, refusal: error.message });
      },
      isRoomier: (candidate, than) => windowOf(candidate) > windowOf(than),
      onNotReady: ({ provider, model }, error) => run.trace.notReady({ provider: provider.id, model }, error, kit.ctx.clock.now()),
      onRetry: (candidate, error, pauseMs) =>
        kit.ctx.logger.warn(`run ${run.id}: ${candidate.provider.id}/${candidate.model} failed; retrying`, {
          fault: error.fault,
          pauseMs,
        }),
      pause: (ms) => sleep(ms, run.signal, kit.ctx.timers),
      random: Math.random,
    });
    return value;
  } catch (error) {
    throw isModelError(error) && error.fault === "context_overflow" ? explainOverflow(error, prompt) : error;
  }
}

async function answerOf(
  run: Run,
  kit: Kit,
  { candidate, candidates, prompt, isFirst, isLast, isLastCandidate }: Turn & { candidate: Candidate; isLastCandidate: boolean },
): Promise<TurnResult> {
  select(run, kit, candidate);
  await fitPrompt(run, kit, { candidate, candidates, prompt });
  run.beginMessage();
  const clientTools = new Set(run.request.clientTools?.map(({ name }) => name));
  const listeners = listenersOf(run, kit, { candidate, clientTools });
  const call = async () => {
    const request = requestFor(run, kit, { candidate, prompt, isFirst, isLast });
    return run.trace.attempt(asked(run, kit, { request, prompt, candidate, isLast }), () =>
      loggedCall(run, kit, { candidate, prompt }, () => readTurn((signal) => candidate.provider.stream(request, { signal }), listeners)),
    );
  };
  const made = await call().catch((error: unknown) => {
    // Once more without the agent's own tools; the caller's are its own to leave out.
    if (clientTools.size > 0 || !kit.toolSupport.learn(candidate, error)) throw error;
    return call();
  });
  const answered = { ...made, usage: withCost(made.usage, infoOf(kit.catalog, candidate)?.cost) };
  const { finish, text, toolCalls } = answered;
  // Another model may answer; a partial answer was shown, and stays.
  if (text !== "" || toolCalls.length > 0) return answered;
  // Silence after words is an end, and what a heartbeat says when there is nothing new.
  const isEnd = isLastCandidate || run.visible || run.heartbeat !== undefined;
  if (finish !== "content_filter" && isEnd) return answered;
  run.count(answered.usage);
  const [fault, what] = finish === "content_filter" ? (["content_filter", "withheld"] as const) : (["empty", "empty"] as const);
  run.trace.rejected(fault);
  throw new ModelError(fault, `provider "${candidate.provider.id}": the answer was ${what}`);
}

function asked(
  run: Run,
  kit: Kit,
  { candidate, request, prompt, isLast }: { candidate: Candidate; request: ModelRequest; prompt: Prompt; isLast: boolean },
): Asked {
  return {
    request,
    prompt,
    provider: candidate.provider.id,
    isLast,
    isWithoutTools: !offersOwnTools(run, kit, candidate),
    input: infoOf(kit.catalog, candidate)?.input,
    cost: () => infoOf(kit.catalog, candidate)?.cost,
    clock: kit.ctx.clock,
  };
}

function listenersOf(
  run: Run,
  kit: Kit,
  { candidate, clientTools }: { candidate: Candidate; clientTools: ReadonlySet<string> },
): TurnOptions {
  return {
    signal: run.signal,
    ...silenceLimits(kit.config, candidate.provider),
    onSilence: (silentMs) => kit.events.waiting(run, silentMs),
    onText: (delta) => kit.events.text(run, delta),
    onReasoning: (delta) => kit.events.reasoning(run, delta),
    onToolInput(made, delta) {
      if (clientTools.has(made.name)) kit.events.toolInput(run, made, delta);
    },
  };
}

function select(run: Run, kit: Kit, { provider, model }: Candidate): void {
  if (run.provider === provider.id && run.modelId === model) return;
  run.provider = provider.id;
  run.modelId = model;
  kit.events.lifecycle(run, { phase: "model", provider: provider.id, model });
}

function requestFor(
  run: Run,
  kit: Kit,
  { prompt, candidate, isFirst, isLast }: { candidate: Candidate; prompt: Prompt; isFirst: boolean; isLast: boolean },
): ModelRequest {
  const { request } = run;
  // A forced call is forced once; asking for it again after its result would never end.
  const asked = isFirst || request.toolChoice === "none" ? request.toolChoice : undefined;
  const choice = isLast ? "none" : asked;
  const hasOwnTools = offersOwnTools(run, kit, candidate);
  // A caller that names the embedded model wants it; the note about a missing model is left out.
  const notice = candidate.provider.embedded && run.agent.models.length === 0 ? kit.modelStates.notice() : undefined;
  return {
    model: candidate.model,
    system: hasOwnTools ? prompt.system : prompt.systemWithoutTools,
    messages: forModel(isLast ? withText(prompt.messages, LAST_TURN) : prompt.messages, {
      provider: candidate.provider.id,
      model: candidate.model,
      input: infoOf(kit.catalog, candidate)?.input,
      isEmbedded: candidate.provider.embedded === true,
    }),
    tools: [...(hasOwnTools ? prompt.tools : []), ...(request.clientTools ?? [])],
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(request.sampling ? { sampling: request.sampling } : {}),
    thinking: prompt.thinking,
    cacheKey: prompt.cacheKey,
    context: {
      agentId: run.agent.id,
      sessionKey: run.sessionKey,
      runId: run.id,
      trigger: request.trigger,
      ...(notice === undefined ? {} : { notice }),
    },
  };
}

/** Vendors refuse tools beside a response format, or call them instead of answering in it; other models take no tools at all. */
function offersOwnTools(run: Run, kit: Kit, candidate: Candidate): boolean {
  const format = run.request.sampling?.responseFormat;
  return (format === undefined || format.type === "text") && kit.toolSupport.has(candidate);
}
