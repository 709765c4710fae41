import type { ModelProvider } from "svc/sdk";
import { bearerHeaders, createVendorProvider, type VendorProviderDeps } from "svc/sdk/internal";
import { addressOf } from "./address.ts";
import type { ChatSettings } from "./vendors.ts";

/** A model provider for one server with the chat completions protocol. */
export function createProvider(given: ChatSettings, deps: VendorProviderDeps): ModelProvider {
  const { baseUrl, query, deployment } = addressOf(given);
  const defaultModel = given.defaultModel ?? deployment;
  const settings: ChatSettings = { ...given, baseUrl, ...(defaultModel === undefined ? {} : { defaultModel }) };
  const parameters = new URLSearchParams(query).toString();
  const search = parameters === "" ? "" : `?${parameters}`;
  const headers = headersOf(settings);
  const provider = createVendorProvider(settings, deps, {
    load: async () =>
      (await import("./call.ts")).createCall(settings, { url: `${baseUrl}/chat/completions${search}`, headers }, deps.fetch),
    list: { path: `/models${search}`, headers },
  });
  return settings.vendor?.hasDeployments ? { ...provider, models: () => settings.models } : provider;
}

/** Headers of every request; one of the config wins over that of the key. */
function headersOf(settings: ChatSettings): Record<string, string> {
  const { apiKey, headers, vendor } = settings;
  if (vendor?.keyHeader === undefined) return bearerHeaders(settings);
  return { ...(apiKey === undefined ? {} : { [vendor.keyHeader]: apiKey }), ...headers };
}
