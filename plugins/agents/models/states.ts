import type { AgentInfo, ModelProbe, ModelProvider, SvcConfig } from "svc/sdk";
import { apiOf } from "svc/sdk/internal";
import type { Catalog } from "./catalog.ts";
import type { ModelChoice } from "./choice.ts";
import { closest } from "./closest.ts";
import type { Cooldown } from "./cooldown.ts";

/** State of a provider. `embedded`: comes with svc and is no language model. */
export interface ProviderState {
  state: "ready" | "embedded" | "unavailable" | "key-rejected" | "unreachable" | "cooldown";
  /** Reason why it is not ready. */
  reason?: string;
  /** When a provider that rests is tried again; wall clock in epoch ms. */
  until?: number;
}

/** The model that answers an agent, and how it stands with it. */
export interface ModelState extends Omit<ProviderState, "state"> {
  agentId: string;
  /** Empty where the name says none. */
  provider: string;
  model: string;
  /** `none`: no plugin offers any model. */
  state: ProviderState["state"] | "unknown" | "none";
}

/** A provider that cannot be used, and why. */
export interface SkippedProvider {
  provider: string;
  reason: string;
}

/** Known state of models and providers, read without a wait; only `refresh` asks servers. */
export interface ModelStates {
  of(agent: AgentInfo): ModelState;
  /** Returns the state of one name of a model: an alias, `provider/model` or a bare id. */
  named(agentId: string, name: string): ModelState;
  provider(provider: ModelProvider, model?: string): ProviderState;
  skipped(): SkippedProvider[];
  /** Returns why no language model answers although something is configured, as a clause; undefined when nothing is configured. */
  notice(): string | undefined;
  /**
   * Asks servers whether they are there: all of them, or those that the config names by an address, unless one said so within the last minute. 5 s at most;
   * never rejects.
   */
  refresh(which: "all" | "named"): Promise<void>;
}

interface Deps {
  catalog: Catalog;
  cooldown: Cooldown;
  config(): SvcConfig;
  models(): ModelChoice;
  clock: { now(): number; monotonic(): number };
  /** Something is known that was not. */
  onChange(): void;
}

const PROBE_MS = 5_000;
/** Age up to which a server is not asked again, after a success and after a failure: the latter is soon mended. A new key or address is a new provider. */
const KEPT_MS = { ok: 60_000, failed: 10_000 };
const MAX_PROBED = 64;
/** Skipped providers that one sentence names. */
const MAX_NAMED = 3;

export function createModelStates(deps: Deps): ModelStates {
  return new KnownModelStates(deps);
}

class KnownModelStates implements ModelStates {
  readonly #deps: Deps;
  readonly #refreshing = new Map<"all" | "named", Promise<void>>();
  readonly #probes = new WeakMap<ModelProvider, { at: number; found: ModelProbe }>();
  readonly #asking = new WeakMap<ModelProvider, Promise<void>>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  of(agent: AgentInfo): ModelState {
    return this.#judge(agent.id, this.#deps.models().standard(agent));
  }

  named(agentId: string, name: string): ModelState {
    return this.#judge(agentId, this.#deps.models().named(name));
  }

  provider(provider: ModelProvider, model?: string): ProviderState {
    const { cooldown, clock } = this.#deps;
    if (provider.embedded) return { state: "embedded" };
    const ready = provider.available();
    if (!ready.ok) return { state: "unavailable", reason: ready.reason };
    const rest = cooldown.restOf(provider.id, model);
    const isRejected = cooldown.lastFault(provider.id) === "auth";
    // To the second, so that the same rest reads the same at each look.
    const until = rest && Math.ceil((clock.now() + rest.until - clock.monotonic()) / 1_000) * 1_000;
    if (rest) return { state: isRejected ? "key-rejected" : "cooldown", reason: rest.reason, ...(until === undefined ? {} : { until }) };
    const probe = this.#lastProbe(provider);
    if (probe && !probe.ok) return { state: probe.fault === "auth" ? "key-rejected" : "unreachable", reason: probe.reason };
    return isRejected ? { state: "key-rejected", reason: "the key was rejected at the last call" } : { state: "ready" };
  }

  skipped(): SkippedProvider[] {
    const { catalog, config } = this.#deps;
    const there = this.#vendors();
    const unusable = there.flatMap((p) => {
      const ready = p.available();
      if (!ready.ok) return [{ provider: p.id, reason: ready.reason }];
      if (p.defaultModel !== undefined || catalog.known(p).length > 0) return [];
      const probe = this.#lastProbe(p);
      return [{ provider: p.id, reason: probe && !probe.ok ? probe.reason : "no model of it is named, and its server lists none so far" }];
    });
    const unserved = Object.entries(config().models.providers)
      .filter(([id]) => !there.some((p) => p.id === id))
      .map(([id, entry]) => ({ provider: id, reason: unservedReason(id, entry) }));
    return [...unusable, ...unserved];
  }

  notice(): string | undefined {
    const all = this.skipped();
    if (all.length === 0) return undefined;
    const named = all.slice(0, MAX_NAMED).map(({ provider, reason }) => `provider "${provider}": ${reason.replace(/\.$/, "")}`);
    return [...named, ...(all.length > MAX_NAMED ? [`${all.length - MAX_NAMED} more`] : [])].join("; ");
  }

  /** Asks the servers; calls at the same time share one answer. */
  refresh(which: "all" | "named"): Promise<void> {
    const running = this.#refreshing.get(which) ?? this.#refresh(which).finally(() => this.#refreshing.delete(which));
    this.#refreshing.set(which, running);
    return running;
  }

  async #refresh(which: "all" | "named"): Promise<void> {
    const { catalog, config, onChange } = this.#deps;
    const entries = config().models.providers;
    // One that is loaded on first use is wanted where the config names it.
    await Promise.allSettled(Object.keys(entries).map((id) => catalog.ready(id)));
    const asked = this.#vendors().filter((p) => p.available().ok && (which === "all" || entries[p.id]?.baseUrl !== undefined));
    const states = () => JSON.stringify(asked.map((provider) => this.provider(provider)));
    const before = states();
    await Promise.allSettled(
      asked.slice(0, MAX_PROBED).map(async (provider) => {
        await this.#probe(provider);
        await catalog.models(provider);
      }),
    );
    if (states() !== before) onChange();
  }

  /** Asks one server, unless it said lately what it has to say; callers at the same time share one answer. */
  #probe(provider: ModelProvider): Promise<void> {
    const { clock } = this.#deps;
    const last = this.#probes.get(provider);
    if (last && clock.monotonic() - last.at < (last.found.ok ? KEPT_MS.ok : KEPT_MS.failed)) return Promise.resolve();
    const ask = async () => {
      const found = await provider.probe?.({ signal: AbortSignal.timeout(PROBE_MS) });
      if (found) this.#probes.set(provider, { at: clock.monotonic(), found });
    };
    const asking = this.#asking.get(provider) ?? ask().finally(() => this.#asking.delete(provider));
    this.#asking.set(provider, asking);
    return asking;
  }

  #vendors(): ModelProvider[] {
    return this.#deps.catalog.providers().filter((p) => !p.embedded);
  }

  #lastProbe(provider: ModelProvider): ModelProbe | undefined {
    const probe = this.#probes.get(provider);
    // A turn that was answered later knows better.
    return probe && probe.at >= (this.#deps.cooldown.answeredAt(provider.id) ?? Number.NEGATIVE_INFINITY) ? probe.found : undefined;
  }

  #judge(agentId: string, ref: { provider: string; model: string } | undefined): ModelState {
    const { catalog, config } = this.#deps;
    if (!ref) return { agentId, provider: "", model: "", state: "none", reason: "no plugin offers a model" };
    const provider = catalog.provider(ref.provider);
    if (!provider) return { agentId, ...ref, state: "unknown", reason: unknownReason(ref, config(), catalog) };
    const found = this.provider(provider, ref.model);
    const known = catalog.known(provider);
    const isListed = known.length === 0 || provider.defaultModel === ref.model || known.some((m) => m.id === ref.model);
    if (isListed || found.state !== "ready") return { agentId, ...ref, ...found };
    const ids = known.map((m) => m.id);
    const near = closest(ref.model, ids);
    const reason = `"${ref.provider}" lists no such model${near ? `; the closest is "${near}"` : ""}`;
    return { agentId, ...ref, state: "unknown", reason };
  }
}

type Entry = SvcConfig["models"]["providers"][string];

/** Explains why no active plugin offers a provider that the config names. */
function unservedReason(id: string, entry: Entry): string {
  const api = apiOf(id, entry);
  if (api !== "openai-completions") return `no active plugin speaks its api, "${api}"`;
  if (entry.baseUrl === undefined) return "no active plugin knows an address for it; set its baseUrl";
  return "no active plugin offers it";
}

function unknownReason({ provider, model }: { provider: string; model: string }, config: SvcConfig, catalog: Catalog): string {
  const entry = config.models.providers[provider];
  if (entry) return unservedReason(provider, entry);
  const lists = catalog.providers().flatMap((p) => catalog.known(p).map((m) => `${p.id}/${m.id}`));
  const defaults = catalog.providers().flatMap((p) => (p.embedded || p.defaultModel === undefined ? [] : [`${p.id}/${p.defaultModel}`]));
  const near = closest(provider === "" ? model : `${provider}/${model}`, [...new Set([...lists, ...defaults])]);
  const what = provider === "" ? "no provider lists it" : `there is no model provider "${provider}"`;
  return `${what}${near ? `; the closest model is "${near}"` : ""}`;
}
