import { isModelError, type ModelProvider } from "svc/sdk";
import type { Catalog } from "./catalog.ts";
import type { Candidate } from "./choice.ts";

const MAX_ENTRIES = 256;
/** Refusals of servers of local models and of routers, as they word them. */
const refusal = /does(?: not|n't) support (?:tools|tool use|tool calling|function calling)|no endpoints found that support tool use/i;

/** Whether models can be offered tools: as their provider says, or as their first refusal showed. */
export interface ToolSupport {
  has(candidate: Candidate): boolean;
  /** True when a fault says that the model takes no tools and this was not known; it is from now on. */
  learn(candidate: Candidate, error: unknown): boolean;
}

export function createToolSupport(catalog: Pick<Catalog, "known">): ToolSupport {
  /** Providers that refused, by model: one that was registered anew is another object, and is asked again. */
  const without = new Map<string, WeakRef<ModelProvider>>();
  const has = ({ provider, model }: Candidate) => {
    const known = catalog.known(provider).find(({ id }) => id === model);
    return known?.tools !== false && without.get(`${provider.id}/${model}`)?.deref() !== provider;
  };
  return {
    has,
    learn(candidate, error) {
      if (!isModelError(error) || error.fault !== "invalid_request" || !refusal.test(error.message) || !has(candidate)) return false;
      without.set(`${candidate.provider.id}/${candidate.model}`, new WeakRef(candidate.provider));
      const oldest = without.keys().next().value;
      if (without.size > MAX_ENTRIES && oldest !== undefined) without.delete(oldest);
      return true;
    },
  };
}
