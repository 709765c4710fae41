import { type AssistantPart, type ModelAnswer, ModelError, type ModelInput, type ModelMessage, type ModelQuestion, sleep } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import { loggedCall } from "../runs/logged-call.ts";
import { LAST_TURN } from "../runs/model-turn.ts";
import { withText } from "../runs/prompt.ts";
import { forModel, type PromptMessage } from "../runs/replay-to-model.ts";
import { type Asking, type AskParts, callTools, offeredTools } from "./ask-tools.ts";
import { withFailover } from "./attempts.ts";
import { infoOf } from "./catalog.ts";
import type { Candidate } from "./choice.ts";
import { withCost } from "./cost.ts";
import { silenceLimits } from "./silence.ts";
import { readTurn, type TurnResult } from "./turn.ts";

/** Time for an answer, retries and fallbacks included. */
const LIMIT_MS = 120_000;
/** Answers with calls of tools; the one after them has to do without. */
const MAX_TOOL_TURNS = 4;

/** Asks a model one question outside of every conversation; its tokens are those of the run that it is part of. @throws as `Agents.ask` */
export async function askModel(kit: AskParts, question: ModelQuestion): Promise<ModelAnswer> {
  const signal = AbortSignal.any([kit.ctx.signal, question.signal, AbortSignal.timeout(LIMIT_MS)]);
  const run = question.runId === undefined ? undefined : kit.runs.get(question.runId);
  const asking = { question, run, signal };
  let candidates = await readersFor(kit, asking);
  const tools = await offeredTools(kit, asking);
  const messages: PromptMessage[] = [{ role: "user", content: question.content }];
  for (let turn = 1; ; turn++) {
    const isLast = tools.length === 0 || turn > MAX_TOOL_TURNS;
    const { value, candidate } = await answerTo(kit, asking, { candidates, messages, tools, isLast });
    const { provider, model } = candidate;
    messages.push({ role: "assistant", content: value.parts, writtenBy: { provider: provider.id, model } });
    if (value.toolCalls.length === 0 || isLast)
      return { text: value.text.trim(), model: `${provider.id}/${model}`, messages: messages.slice(1).map(plainMessage) };
    messages.push(...(await callTools(kit, asking, value.toolCalls)));
    // The model that has begun goes on.
    candidates = [candidate, ...candidates.filter((one) => one !== candidate)];
  }
}

interface Request {
  candidates: readonly Candidate[];
  messages: readonly PromptMessage[];
  tools: Awaited<ReturnType<typeof offeredTools>>;
  /** The model may call no tools: it has to answer. */
  isLast: boolean;
}

function answerTo(kit: AskParts, asking: Asking, request: Request): Promise<{ value: TurnResult; candidate: Candidate }> {
  const { run, signal } = asking;
  return withFailover({
    candidates: request.candidates,
    cooldown: kit.cooldown,
    isCurrent: ({ provider }) => kit.catalog.provider(provider.id) === provider,
    async attempt(candidate) {
      const answer = await answerOf(kit, asking, { ...request, candidate });
      run?.countAside(withCost(answer.usage, infoOf(kit.catalog, candidate)?.cost), "question");
      if (answer.text.trim() !== "" || (answer.toolCalls.length > 0 && !request.isLast)) return answer;
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
}

/** Models of the session that read all of it, else the other one. */
async function readersFor(kit: AskParts, { question, run }: Asking): Promise<Candidate[]> {
  const { agentId, sessionKey, content, otherwise } = question;
  const agent = kit.directory.get(agentId);
  const needed = inputOf(content);
  const reads = async ({ provider, model }: Candidate, isBelieved: boolean): Promise<boolean> => {
    if (provider.embedded) return false;
    const input = (await kit.catalog.models(provider)).find(({ id }) => id === model)?.input;
    return input === undefined ? isBelieved : needed.every((kind) => input.includes(kind));
  };
  const chosen = run?.model ?? (await kit.store().sessions.get(run?.sessionKey ?? sessionKey))?.model;
  const isUnnamed = chosen === undefined && agent.models.length === 0;
  const standard = question.isNamedOnly && isUnnamed ? [] : await kit.models.candidates(agent, chosen);
  const own = await readersAmong([...(await preferred(kit, question)), ...standard], (one) => reads(one, needed.length === 0));
  if (own.length > 0) return own;
  const others = otherwise === undefined ? [] : await kit.models.candidates(agent, otherwise);
  const found = await readersAmong(others, (one) => reads(one, true));
  if (found.length > 0) return found;
  throw agentErrors.modelCannotRead({ agentId, input: needed.join(", ") || "text" });
}

/** The model that the question names; none where nobody offers it. */
async function preferred(kit: AskParts, { agentId, model }: ModelQuestion): Promise<Candidate[]> {
  if (model === undefined) return [];
  try {
    return await kit.models.candidates(kit.directory.get(agentId), model);
  } catch (error) {
    kit.ctx.logger.debug(`model "${model}" is passed over`, { error: String(error) });
    return [];
  }
}

/** Candidates that read it, each once. */
async function readersAmong(candidates: readonly Candidate[], reads: (candidate: Candidate) => Promise<boolean>): Promise<Candidate[]> {
  const verdicts = await Promise.all(candidates.map(reads));
  const isSame = (a: Candidate) => (b: Candidate) => a.provider === b.provider && a.model === b.model;
  return candidates.filter((one, i) => verdicts[i] && candidates.findIndex(isSame(one)) === i);
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
  kit: AskParts,
  { question, signal }: Asking,
  { candidate, messages, tools, isLast }: Request & { candidate: Candidate },
): Promise<TurnResult> {
  const { agentId, sessionKey, runId = "", system, thinking = "off" } = question;
  const { provider, model } = candidate;
  const isForced = isLast && tools.length > 0;
  const input = infoOf(kit.catalog, candidate)?.input;
  const request = {
    model,
    system,
    messages: forModel(isForced ? withText(messages, LAST_TURN) : messages, { provider: provider.id, model, input }),
    tools,
    ...(isForced ? { toolChoice: "none" as const } : {}),
    thinking,
    context: { agentId, sessionKey, runId },
  };
  return loggedCall({ id: runId }, kit, { candidate, prompt: { messages: [...messages], tools, thinking } }, () =>
    readTurn((stop) => provider.stream(request, { signal: stop }), {
      signal,
      ...silenceLimits(kit.config, provider),
      onText: () => undefined,
    }),
  );
}

/** A message without the vendor's own data. */
function plainMessage({ writtenBy: _, usedTokens: __, ...message }: PromptMessage): ModelMessage {
  if (message.role !== "assistant") return message;
  return { role: "assistant", content: message.content.map(({ meta: ___, ...part }): AssistantPart => part) };
}
