import { ModelError, type ModelInput, type ModelQuestion, sleep } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { loggedCall } from "../runs/logged-call.ts";
import { withFailover } from "./attempts.ts";
import { infoOf } from "./catalog.ts";
import type { Candidate } from "./choice.ts";
import { withCost } from "./cost.ts";
import { silenceLimits } from "./silence.ts";
import { readTurn, type TurnResult } from "./turn.ts";

/** Time for an answer, retries and fallbacks included. */
const LIMIT_MS = 120_000;

type Parts = Pick<Kit, "ctx" | "config" | "directory" | "models" | "catalog" | "store" | "runs" | "cooldown" | "figures">;

/** Asks a model one question outside of every conversation; its tokens are those of the run that it is part of. @throws as `Agents.ask` */
export async function askModel(kit: Parts, question: ModelQuestion): Promise<{ text: string; model: string }> {
  const signal = AbortSignal.any([kit.ctx.signal, question.signal, AbortSignal.timeout(LIMIT_MS)]);
  const run = question.runId === undefined ? undefined : kit.runs.get(question.runId);
  const { value, candidate } = await withFailover({
    candidates: await readersFor(kit, question),
    cooldown: kit.cooldown,
    isCurrent: ({ provider }) => kit.catalog.provider(provider.id) === provider,
    async attempt(candidate) {
      const answer = await answerOf(kit, question, { candidate, signal });
      run?.countAside(withCost(answer.usage, infoOf(kit.catalog, candidate)?.cost), "question");
      if (answer.text.trim() !== "") return answer;
      const fault = answer.finish === "content_filter" ? "content_filter" : "empty";
      throw new ModelError(fault, `provider "${candidate.provider.id}": the model answered with nothing`);
    },
    isVisible: () => false,
    mayFailover: () => true,
    shrink: () => false,
    onRetry: ({ provider, model }, error) =>
      kit.ctx.logger.warn(`a question to ${provider.id}/${model} failed; retrying`, { fault: error.fault }),
    pause: (ms) => sleep(ms, signal, kit.ctx.timers),
    random: Math.random,
  });
  return { text: value.text.trim(), model: `${candidate.provider.id}/${candidate.model}` };
}

/** Models of the session that read all of it, else the other one. */
async function readersFor(kit: Parts, { agentId, sessionKey, runId, content, otherwise }: ModelQuestion): Promise<Candidate[]> {
  const agent = kit.directory.get(agentId);
  const needed = inputOf(content);
  const reads = async ({ provider, model }: Candidate, isBelieved: boolean): Promise<boolean> => {
    if (provider.embedded) return false;
    const input = (await kit.catalog.models(provider)).find(({ id }) => id === model)?.input;
    return input === undefined ? isBelieved : needed.every((kind) => input.includes(kind));
  };
  const chosen = (runId === undefined ? undefined : kit.runs.get(runId)?.model) ?? (await kit.store().sessions.get(sessionKey))?.model;
  const own = await readersAmong(await kit.models.candidates(agent, chosen), (one) => reads(one, needed.length === 0));
  if (own.length > 0) return own;
  const others = otherwise === undefined ? [] : await kit.models.candidates(agent, otherwise);
  const found = await readersAmong(others, (one) => reads(one, true));
  if (found.length > 0) return found;
  throw agentErrors.modelCannotRead({ agentId, input: needed.join(", ") || "text" });
}

async function readersAmong(candidates: readonly Candidate[], reads: (candidate: Candidate) => Promise<boolean>): Promise<Candidate[]> {
  const verdicts = await Promise.all(candidates.map(reads));
  return candidates.filter((_, i) => verdicts[i]);
}

/** Kinds of content besides text. */
function inputOf(content: ModelQuestion["content"]): ModelInput[] {
  const kinds = content.flatMap((part): ModelInput[] => {
    if (part.type === "text") return [];
    if (part.type === "image") return ["image"];
    return [part.mimeType.startsWith("audio/") ? "audio" : "pdf"];
  });
  return [...new Set(kinds)];
}

function answerOf(
  kit: Parts,
  { agentId, sessionKey, runId = "", system, content }: ModelQuestion,
  { candidate, signal }: { candidate: Candidate; signal: AbortSignal },
): Promise<TurnResult> {
  const { provider, model } = candidate;
  const messages = [{ role: "user" as const, content }];
  const request = { model, system, messages, tools: [], thinking: "off", context: { agentId, sessionKey, runId } };
  return loggedCall({ id: runId }, kit, { candidate, prompt: { messages, tools: [], thinking: "off" } }, () =>
    readTurn((stop) => provider.stream(request, { signal: stop }), {
      signal,
      ...silenceLimits(kit.config, provider),
      onText: () => undefined,
    }),
  );
}
