import type { ModelProvider } from "svc/sdk";
import { createVendorProvider, type ProviderSettings, type VendorCall, type VendorProviderDeps } from "svc/sdk/internal";
import type { Connections } from "./connections.ts";
import { toDeltas } from "./events.ts";
import { toModelError } from "./faults.ts";
import { toConverse } from "./request.ts";
import { knownModels } from "./vendor.ts";

/** A model provider for one region or address of Bedrock. Its models are those of the config, or the known ones: the list of the account is another service's. */
export function createProvider(settings: ProviderSettings, deps: VendorProviderDeps & { connections: Connections }): ModelProvider {
  const models = settings.models.length > 0 ? settings.models : [...knownModels];
  const call: VendorCall = async function* (req, signal) {
    const { input, ignoresCalls } = toConverse(req, { ...settings, models });
    try {
      const connection = await deps.connections.of(settings);
      yield* toDeltas(connection.converse(input, signal), { ignoresCalls });
    } catch (error) {
      throw toModelError(error, { provider: settings.id, now: deps.clock.now() });
    }
  };
  return createVendorProvider(settings, deps, { load: async () => call, list: models });
}
