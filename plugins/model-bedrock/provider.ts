import type { ModelProvider } from "svc/sdk";
import { createVendorProvider, type ProviderSettings, type VendorCall, type VendorProviderDeps } from "svc/sdk/internal";
import type { Connections } from "./connections.ts";
import { toDeltas } from "./events.ts";
import { toModelError } from "./faults.ts";
import { toConverse } from "./request.ts";
import { knownModels } from "./vendor.ts";

/** Shorter texts would blank ordinary words. */
const MIN_SECRET_CHARS = 8;

/** A model provider for one region or address of Bedrock. Its models are those of the config, or the known ones: the list of the account is another service's. */
export function createProvider(settings: ProviderSettings, deps: VendorProviderDeps & { connections: Connections }): ModelProvider {
  const models = settings.models.length > 0 ? settings.models : [...knownModels];
  const secrets = [settings.apiKey, ...Object.values(settings.headers)].filter(
    (value): value is string => value !== undefined && value.length >= MIN_SECRET_CHARS,
  );
  const call: VendorCall = async function* (req, signal) {
    const { input, ignoresCalls } = toConverse(req, { ...settings, models });
    try {
      yield* toDeltas(deps.connections.of(settings).converse(input, signal), { ignoresCalls });
    } catch (error) {
      throw toModelError(error, { provider: settings.id, secrets, now: deps.clock.now() });
    }
  };
  return createVendorProvider(settings, deps, { load: async () => call, list: models });
}
