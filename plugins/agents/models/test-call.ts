import { randomUUID } from "node:crypto";
import {
  type AgentInfo,
  commonErrors,
  cutEnd,
  isModelError,
  type JsonObject,
  type ModelRequest,
  mainSessionKey,
  messageOf,
  type ParamsOf,
} from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { Candidate } from "./choice.ts";
import { silenceLimits } from "./silence.ts";
import { readTurn } from "./turn.ts";

/** Longest test, unless its caller says otherwise: a model of this machine may have to be loaded first. */
const LIMIT_MS = 60_000;
/** Tests at a time. */
const MAX_TESTS = 4;
/** Longest answer in tokens: room for a model that thinks a little all the same. */
const MAX_TOKENS = 64;
const MAX_SHOWN_CHARS = 200;

/** Parts that a test of a model needs. */
export type TestParts = Pick<Kit, "ctx" | "config" | "directory" | "catalog" | "models" | "cooldown" | "modelStates">;

/**
 * Asks one model for one word, once, without retries, fallbacks, tools or a session. An answer ends the rest of the provider; a fault begins none.
 */
export class ModelTests {
  #running = 0;

  /** @throws {SvcError} `busy`, `invalid-model`, `model-not-allowed`, `unknown-agent` */
  async run(parts: TestParts, params: ParamsOf<"models.test">, signal: AbortSignal): Promise<JsonObject> {
    if (this.#running >= MAX_TESTS) throw commonErrors.busy({}, { retryAfterMs: 5_000 });
    this.#running += 1;
    try {
      const agent = parts.directory.get(params.agentId ?? parts.directory.defaultId);
      const candidate = await candidateFor(parts, agent, params.model);
      if (!candidate || candidate.provider.embedded) return noModel(parts, candidate);
      return await callOnce(parts, { agent, candidate }, { signal, limitMs: params.timeoutMs ?? LIMIT_MS });
    } finally {
      this.#running -= 1;
    }
  }
}

async function candidateFor({ catalog, models }: TestParts, agent: AgentInfo, named: string | undefined): Promise<Candidate | undefined> {
  await catalog.ready();
  if (named === undefined) return (await models.candidates(agent))[0];
  const { provider, model } = await models.check(agent, named);
  const found = catalog.provider(provider);
  return found && { provider: found, model };
}

function noModel({ modelStates }: TestParts, candidate: Candidate | undefined): JsonObject {
  const notice = modelStates.notice();
  const why = notice === undefined ? "none is configured; set a key such as OPENAI_API_KEY, or models.providers.<vendor>.baseUrl" : notice;
  const ref = { provider: candidate?.provider.id ?? "", model: candidate?.model ?? "" };
  return { ok: false, ...ref, latencyMs: 0, fault: "no-model", error: `there is no language model to ask: ${why}` };
}

async function callOnce(
  parts: TestParts,
  { agent, candidate: { provider, model } }: { agent: AgentInfo; candidate: Candidate },
  { signal, limitMs }: { signal: AbortSignal; limitMs: number },
): Promise<JsonObject> {
  const { clock } = parts.ctx;
  const startedAt = clock.monotonic();
  const took = () => Math.max(0, Math.round(clock.monotonic() - startedAt));
  const limit = AbortSignal.timeout(limitMs);
  const limits = silenceLimits(parts.config, provider);
  const ref = { provider: provider.id, model };
  try {
    const { text, usage } = await readTurn((stop) => provider.stream(requestFor(agent, model), { signal: stop }), {
      signal: AbortSignal.any([signal, limit]),
      firstMs: Math.min(limits.firstMs, limitMs),
      idleMs: Math.min(limits.idleMs, limitMs),
      onText: () => undefined,
    });
    parts.cooldown.succeeded(provider.id, model);
    return { ok: true, ...ref, latencyMs: took(), text: cutEnd(text.trim(), MAX_SHOWN_CHARS), usage };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { ok: false, ...ref, latencyMs: took(), ...faultOf(error, limit.aborted, { id: provider.id, limitMs }) };
  }
}

function requestFor({ id: agentId }: AgentInfo, model: string): ModelRequest {
  return {
    model,
    system: "Answer with one word.",
    messages: [{ role: "user", content: [{ type: "text", text: "Say OK." }] }],
    tools: [],
    sampling: { maxTokens: MAX_TOKENS },
    thinking: "off",
    context: { agentId, sessionKey: mainSessionKey(agentId), runId: `models-test-${randomUUID()}` },
  };
}

function faultOf(error: unknown, isLate: boolean, { id, limitMs }: { id: string; limitMs: number }): JsonObject {
  if (isLate) return { fault: "timeout", error: `provider "${id}": no answer within ${limitMs / 1_000} s` };
  if (!isModelError(error)) return { fault: "network", error: messageOf(error) };
  const { fault, status, retryAfterMs, message } = error;
  return {
    fault,
    error: message,
    ...(status === undefined ? {} : { httpStatus: status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
