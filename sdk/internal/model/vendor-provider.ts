import type { Clock, Logger } from "../../types/common.ts";
import type { ModelDelta, ModelInfo, ModelProvider, ModelRequest } from "../../types/model.ts";
import { type Arrival, arrivalsOf, inArrivals } from "../arrivals.ts";
import { createCatalog, type ListRequest, type ServerCatalog } from "./catalog.ts";
import { type FaultRules, toModelError } from "./faults.ts";
import type { ModelVendor, ProviderSettings } from "./settings.ts";
import type { VendorFetch } from "./vendor-fetch.ts";

export interface VendorProviderDeps {
  fetch: VendorFetch;
  clock: Clock;
  logger: Logger;
}

/** How one wire format is spoken. */
export interface VendorWire {
  /** Loads what a call needs; tried again after a failure. */
  load(): Promise<VendorCall>;
  /** How the server is asked for its models; or what is known of them, where it is not asked. */
  list: ListRequest | readonly ModelInfo[];
  /** Meaning of the vendor's errors where it differs from the common rules. */
  faults?: FaultRules;
  /** Facts about a model of the config by its id, as those of its family; the config wins. */
  factsOf?(id: string): Omit<ModelInfo, "id">;
}

/** One model turn, whose deltas may come in arrivals. Errors may be thrown as the vendor package throws them. */
export type VendorCall = (req: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelDelta>;

/** A model provider for one server. The vendor package is loaded with the first turn; every failure of a turn is a `ModelError`. */
export function createVendorProvider(settings: ProviderSettings<ModelVendor>, deps: VendorProviderDeps, wire: VendorWire): ModelProvider {
  const { list, faults } = wire;
  const catalog = "path" in list ? createCatalog(settings, deps, { list, faults }) : knownModels(list);
  const secrets = [settings.apiKey, ...Object.values(settings.headers)].filter(
    (value): value is string => value !== undefined && value.length >= 8,
  );
  const configured = settings.models.map((model) => ({ ...wire.factsOf?.(model.id), ...model }));
  let loading: Promise<VendorCall> | undefined;
  const load = () => {
    loading ??= wire.load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  async function* arriving(req: ModelRequest, signal: AbortSignal): AsyncIterable<Arrival<ModelDelta>> {
    try {
      signal.throwIfAborted();
      const call = await load();
      // A reader that leaves early ends the call, which closes the socket.
      yield* arrivalsOf(call(req, signal));
    } catch (error) {
      if (signal.aborted) throw new DOMException("the model request was aborted", "AbortError");
      const fault = toModelError(error, { provider: settings.id, secrets, now: deps.clock.now(), rules: wire.faults });
      deps.logger.debug(fault.message, { provider: settings.id, fault: fault.fault, status: fault.status });
      throw fault;
    }
  }

  return {
    id: settings.id,
    name: settings.name,
    ...(settings.defaultModel === undefined ? {} : { defaultModel: settings.defaultModel }),
    ...(settings.keySource === undefined ? {} : { keySource: settings.keySource }),
    firstAnswerMs: settings.firstAnswerMs,
    models: () => (settings.models.length > 0 || settings.unavailable !== undefined ? configured : catalog.models()),
    available: () => (settings.unavailable === undefined ? { ok: true } : { ok: false, reason: settings.unavailable }),
    probe: async ({ signal }) =>
      settings.unavailable === undefined ? catalog.probe(signal) : { ok: false, fault: "auth", reason: settings.unavailable },
    stream: (req, { signal }) => inArrivals(() => arriving(req, signal)),
  };
}

function knownModels(models: readonly ModelInfo[]): Pick<ServerCatalog, "probe"> & { models(): ModelInfo[] } {
  return { models: () => [...models], probe: async () => ({ ok: true }) };
}
