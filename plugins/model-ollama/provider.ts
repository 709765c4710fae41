import { ModelError, type ModelInfo, type ModelProvider, type ModelRequest, z } from "svc/sdk";
import {
  bearerHeaders,
  createVendorProvider,
  type ProviderSettings,
  refusedAnswer,
  type VendorCall,
  type VendorProviderDeps,
} from "svc/sdk/internal";
import { toDeltas } from "./answer.ts";
import { type AllDetails, createDetails } from "./details.ts";
import { faults, refusalOfThinking } from "./faults.ts";
import { streamLimits } from "./http.ts";
import { jsonLines } from "./lines.ts";
import { type RequestFacts, toChatBody } from "./request.ts";
import { type PromptLimits, windowOf, withDetails } from "./window.ts";

export interface OllamaDeps extends VendorProviderDeps {
  /** Longest prompts of agents, as the config says now. */
  prompts(): PromptLimits;
}

/** Models that are listed with their details; a server with more shows the first of them. */
const MAX_LISTED = 100;
/** Models of which it is remembered that they take no `think`. */
const MAX_LEARNED = 256;

const tagsSchema = z.looseObject({ models: z.array(z.looseObject({ name: z.string() })) });

/** A model provider for one Ollama server. */
export function createProvider(given: ProviderSettings, deps: OllamaDeps): ModelProvider {
  // Addresses for other clients of the same server end in a path.
  const settings = { ...given, baseUrl: given.baseUrl.replace(/\/(api|v1)$/, "") };
  const headers = bearerHeaders(settings);
  const details = createDetails(settings, { fetch: deps.fetch, clock: deps.clock, headers });
  const provider = createVendorProvider(settings, deps, {
    load: async () => createCall(settings, deps, details),
    list: { path: "/api/tags", headers, read: (body) => tagsSchema.parse(body).models.map(({ name }) => ({ id: name })) },
    faults,
  });
  const complete = (model: ModelInfo, known = details.known(model.id)) =>
    withDetails(model, { settings, prompts: deps.prompts(), details: known });

  async function listed(models: readonly ModelInfo[]): Promise<ModelInfo[]> {
    const shown = models.slice(0, MAX_LISTED);
    const found = await details.ofAll(shown.map(({ id }) => id));
    return shown.flatMap((model, i) => {
      const { capabilities } = found[i] ?? {};
      const answers = capabilities === undefined || capabilities.includes("completion");
      return answers ? [complete(model, found[i])] : [];
    });
  }

  return {
    ...provider,
    models() {
      const models = provider.models();
      // Models of the config hold at once; details of the server are added when they are there.
      return Array.isArray(models) ? models.map((model) => complete(model)) : models.then(listed);
    },
  };
}

function createCall(settings: ProviderSettings, deps: OllamaDeps, details: AllDetails): VendorCall {
  const learned = new Map<string, RequestFacts["learned"]>();

  function learn(model: string, error: unknown): boolean {
    const refusal = refusalOfThinking(error);
    if (refusal === undefined || learned.get(model) === refusal) return false;
    learned.set(model, refusal);
    const oldest = learned.keys().next().value;
    if (learned.size > MAX_LEARNED && oldest !== undefined) learned.delete(oldest);
    return true;
  }

  async function post(req: ModelRequest, facts: Omit<RequestFacts, "learned">, signal: AbortSignal): Promise<Response> {
    const body = JSON.stringify(toChatBody(req, settings, { ...facts, learned: learned.get(req.model) }));
    const headers = { ...bearerHeaders(settings), "content-type": "application/json" };
    const response = await deps.fetch(`${settings.baseUrl}/api/chat`, { method: "POST", headers, body, signal }, streamLimits);
    if (response.ok) return response;
    const error = await refusedAnswer(response);
    // Each refusal is learnt once, so this comes to an end.
    if (learn(req.model, error)) return post(req, facts, signal);
    throw error;
  }

  return async function* call(req, signal) {
    const known = await untilAborted(details.of(req.model), signal);
    const configured = settings.models.find(({ id }) => id === req.model)?.reasoning;
    const numCtx = windowOf(req.model, { settings, prompts: deps.prompts(), details: known });
    const response = await post(req, { numCtx, thinks: configured ?? known?.capabilities?.includes("thinking") }, signal);
    // A reader that leaves early cancels the body, which closes the socket.
    if (!response.body) throw new ModelError("network", "the answer has no body");
    yield* toDeltas(jsonLines(response.body));
  };
}

/** Rejects at the abort; what it waited for goes on for others, within its own limit. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", leave);
    work.catch(() => undefined);
  }
}
