import type { ModelProvider } from "svc/sdk";
import {
  bearerHeaders,
  createVendorProvider,
  type ProviderSettings,
  toDeltas,
  type VendorCall,
  type VendorProviderDeps,
} from "svc/sdk/internal";
import { completed } from "./answer.ts";
import { asCallError, faults, refusesSummaries } from "./faults.ts";
import { factsOf, readModels } from "./models.ts";
import { type ResponsesModel, toRequestBody, toVendorRequest } from "./request.ts";

/** A model provider for one server with the Responses API. */
export function createProvider(settings: ProviderSettings, deps: VendorProviderDeps): ModelProvider {
  return createVendorProvider(settings, deps, {
    load: () => load(settings, deps),
    list: { path: "/models", headers: bearerHeaders(settings), read: readModels },
    faults,
    factsOf,
  });
}

async function load(settings: ProviderSettings, { fetch }: VendorProviderDeps): Promise<VendorCall> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const vendor = createOpenAI({
    baseURL: settings.baseUrl,
    // Without one the package would look for the vendor's key in the environment of the process.
    apiKey: settings.apiKey ?? "none",
    headers: settings.headers,
    fetch: sending(settings, fetch),
  });
  let summaries = true;

  async function begin(model: ResponsesModel, ...[req, signal]: Parameters<VendorCall>) {
    const start = () => model.doStream({ ...toVendorRequest(req, settings, { summaries }), abortSignal: signal });
    try {
      return await start();
    } catch (error) {
      if (!summaries || !refusesSummaries(error)) throw asCallError(error);
      summaries = false;
      return await start();
    }
  }

  return async function* call(req, signal) {
    const { stream } = await begin(vendor.responses(req.model), req, signal);
    const sealed = new WeakSet<object>();
    // A reader that leaves early cancels the stream, which closes the socket.
    yield* toDeltas(completed(stream, sealed), { endsWithReason: true, isRedacted: (meta) => sealed.has(meta) });
  };
}

/** Sends the config's parameters with each request, and no key where there is none. */
function sending(settings: ProviderSettings, fetch: VendorProviderDeps["fetch"]): VendorProviderDeps["fetch"] {
  return (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (settings.apiKey === undefined && settings.headers.authorization === undefined) headers.delete("authorization");
    const body = typeof init.body === "string" ? toRequestBody(init.body, settings) : init.body;
    return fetch(input, { ...init, headers, ...(body === undefined ? {} : { body }) });
  };
}
