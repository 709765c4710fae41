import type { AgentInfo, ModelProvider, SvcConfig, SvcError } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Catalog } from "./catalog.ts";
import { closest } from "./closest.ts";

/** Ids longer than this are not compared with anything. */
const MAX_REF_CHARS = 256;

/** A provider and a model id inside it. */
export interface ModelRef {
  provider: string;
  model: string;
}

export interface Candidate {
  provider: ModelProvider;
  model: string;
}

export interface ModelChoice {
  /**
   * Resolves a name given by a caller: an alias, `provider/model` or a bare id.
   * @throws {SvcError} `invalid-model`, `model-not-allowed`
   */
  check(agent: AgentInfo, named: string): Promise<ModelRef>;
  /**
   * Models to try for one run, in order: the agent's own, its fallbacks; else the first vendor that is ready, else the embedded one. One that somebody
   * chose for the run or its session stands alone: an answer of another one would pass for its answer. One that a plugin routed to comes before the others.
   * @throws {SvcError} `invalid-model`
   */
  candidates(agent: AgentInfo, override?: ModelRef | string, by?: "choice" | "routing"): Promise<Candidate[]>;
  /** Model that would answer without an override, as far as it is known; reads no list. */
  standard(agent: AgentInfo): ModelRef | undefined;
  /** Model that a name stands for, as far as it is known; reads no list. `provider` is empty when nobody is known to offer it. */
  named(name: string): ModelRef;
}

export function createModelChoice(config: SvcConfig, catalog: Catalog): ModelChoice {
  const listed = config.agents.defaults.models ?? {};
  const aliases = new Map(Object.entries(listed).flatMap(([ref, { alias }]) => (alias ? [[alias.toLowerCase(), ref] as const] : [])));

  const resolve = async (named: string, preferred: string | undefined): Promise<ModelRef> => {
    const text = aliases.get(named.trim().toLowerCase()) ?? named.trim();
    if (text === "" || text.length > MAX_REF_CHARS) throw agentErrors.invalidModel({ model: text.slice(0, 64) });
    const full = splitRef(text);
    await catalog.ready(full?.provider);
    const provider = full && catalog.provider(full.provider);
    if (full && provider && (await offers(catalog, provider, full.model))) return full;
    const bare = await findBare(catalog, text, provider ? undefined : preferred);
    if (bare) return bare;
    const isUnserved = full && !provider && Object.hasOwn(config.models.providers, full.provider);
    if (isUnserved)
      throw agentErrors.invalidModel({ model: text, hint: `; no active plugin offers "${full.provider}", see svc models status` });
    throw await unknownModel(catalog, text, [...aliases.keys()]);
  };

  const named = (name: string): ModelRef => {
    const text = aliases.get(name.trim().toLowerCase()) ?? name.trim();
    const full = splitRef(text);
    if (full && catalog.provider(full.provider)) return full;
    const owner = catalog.providers().find((p) => p.defaultModel === text || catalog.known(p).some((m) => m.id === text));
    return owner ? { provider: owner.id, model: text } : (full ?? { provider: "", model: text });
  };

  const standard = (agent: AgentInfo): ModelRef | undefined => {
    const first = agent.models[0];
    if (first !== undefined) return named(first);
    const ready = firstReady(catalog);
    return ready && { provider: ready.provider.id, model: ready.model };
  };

  return {
    standard,
    named,
    async check(agent, named) {
      const ref = await resolve(named, standard(agent)?.provider);
      const id = `${ref.provider}/${ref.model}`;
      const allowed = Object.keys(listed);
      if (allowed.length > 0 && !allowed.includes(id) && !agent.models.includes(id)) {
        throw agentErrors.modelNotAllowed({ model: id, agentId: agent.id });
      }
      return ref;
    },
    async candidates(agent, override, by = "choice") {
      const preferred = standard(agent)?.provider;
      const refs: ModelRef[] = [];
      if (override !== undefined) refs.push(typeof override === "string" ? await resolve(override, preferred) : override);
      if (refs.length > 0 && by === "choice") return refs.flatMap((ref) => toCandidate(catalog, ref));
      for (const [i, named] of agent.models.entries()) {
        if (i === 0 && refs.length === 0) refs.push(await resolve(named, preferred));
        else
          refs.push(
            ...(await resolve(named, preferred).then(
              (ref) => [ref],
              () => [],
            )),
          );
      }
      if (refs.length > 0) return distinct(refs).flatMap((ref) => toCandidate(catalog, ref));
      const ready = firstReady(catalog);
      if (ready && !ready.provider.embedded) return [ready];
      // A server whose models nobody named is asked for its list, before anybody says that there is no language model.
      await Promise.all(unnamed(catalog).map((p) => catalog.models(p)));
      const listed = firstReady(catalog);
      return listed ? [listed] : [];
    },
  };
}

/** `provider/model` at the first slash; undefined for a bare id. */
export function splitRef(text: string): ModelRef | undefined {
  const slash = text.indexOf("/");
  return slash > 0 && slash < text.length - 1 ? { provider: text.slice(0, slash), model: text.slice(slash + 1) } : undefined;
}

/** A provider that does not list its models is believed. */
async function offers(catalog: Catalog, provider: ModelProvider, model: string): Promise<boolean> {
  if (provider.defaultModel === model) return true;
  const models = await catalog.models(provider);
  return models.length === 0 || models.some((m) => m.id === model);
}

async function findBare(catalog: Catalog, model: string, preferred: string | undefined): Promise<ModelRef | undefined> {
  const own = preferred === undefined ? undefined : catalog.provider(preferred);
  if (own && (await offers(catalog, own, model))) return { provider: own.id, model };
  const ready = [...catalog.providers()].sort((a, b) => Number(b.available().ok) - Number(a.available().ok));
  for (const provider of ready) {
    if (provider.defaultModel === model) return { provider: provider.id, model };
    const models = await catalog.models(provider);
    if (models.some((m) => m.id === model)) return { provider: provider.id, model };
  }
  return undefined;
}

/** The first vendor whose model is named, else the first whose server lists one, else the embedded provider. */
function firstReady(catalog: Catalog): Candidate | undefined {
  const providers = catalog.providers();
  const vendor = providers.find((p) => !p.embedded && p.defaultModel !== undefined && p.available().ok);
  if (vendor) return { provider: vendor, model: vendor.defaultModel as string };
  for (const provider of unnamed(catalog)) {
    const model = firstListed(catalog.known(provider).map(({ id }) => id));
    if (model !== undefined) return { provider, model };
  }
  const embedded = providers.find((p) => p.embedded);
  return embedded && { provider: embedded, model: embedded.defaultModel ?? embedded.id };
}

/** Vendors that can be used and whose model nobody named. */
function unnamed(catalog: Catalog): ModelProvider[] {
  return catalog.providers().filter((p) => !p.embedded && p.defaultModel === undefined && p.available().ok);
}

/** The first by name, so that it does not depend on the order of an answer; models that only embed, speak or draw are left out by their names. */
export function firstListed(ids: readonly string[]): string | undefined {
  return [...ids].sort().find((id) => !/embed|rerank|whisper|tts|bge-|e5-|minilm|stable-diffusion/i.test(id));
}

async function unknownModel(catalog: Catalog, model: string, aliases: string[]): Promise<SvcError> {
  const lists = await Promise.all(catalog.providers().map(async (p) => (await catalog.models(p)).map((m) => `${p.id}/${m.id}`)));
  const near = closest(model, [...lists.flat(), ...aliases]);
  return agentErrors.invalidModel({ model, hint: near ? `; the closest is "${near}"` : "", ...(near ? { closest: near } : {}) });
}

function toCandidate(catalog: Catalog, { provider, model }: ModelRef): Candidate[] {
  const found = catalog.provider(provider);
  return found ? [{ provider: found, model }] : [];
}

function distinct(refs: readonly ModelRef[]): ModelRef[] {
  const seen = new Set<string>();
  return refs.filter(({ provider, model }) => {
    const id = `${provider}/${model}`;
    return !seen.has(id) && seen.add(id);
  });
}
