import { ModelError, type ModelProvider } from "svc/sdk";
import { createVendorProvider, googleApiBase, type StreamPart, toDeltas, type VendorCall, type VendorProviderDeps } from "svc/sdk/internal";
import { faultRules } from "./faults.ts";
import { listPath, readModels } from "./model-list.ts";
import { factsOf } from "./models.ts";
import { toVendorRequest, withParams } from "./request.ts";
import { type GoogleSettings, requestHeaders } from "./vendors.ts";

/** A model provider for one server with the API of Gemini. */
export function createProvider(given: GoogleSettings, deps: VendorProviderDeps): ModelProvider {
  const settings = { ...given, baseUrl: googleApiBase(given.baseUrl) };
  return createVendorProvider(settings, deps, {
    load: () => load(settings, deps),
    list: { path: listPath, headers: requestHeaders(settings), read: readModels },
    faults: faultRules,
    factsOf,
  });
}

async function load(settings: GoogleSettings, { fetch }: VendorProviderDeps): Promise<VendorCall> {
  const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
  return async function* call(req, signal) {
    const vendor = createGoogleGenerativeAI({
      baseURL: settings.baseUrl,
      // Without one the package would look for a key in the environment by itself.
      apiKey: settings.apiKey ?? "none",
      headers: settings.headers,
      fetch: createGeminiFetch(req.model, settings, fetch),
    });
    const { stream } = await vendor.chat(req.model).doStream({ ...toVendorRequest(req, settings), abortSignal: signal });
    // A reader that leaves early cancels the stream, which closes the socket. A stream that was cut off ends without a reason.
    yield* toDeltas(wellFormed(stream), { endsWithReason: true, keepsTextMeta: true });
  };
}

/** A call that the vendor could not read itself ends the answer without an error; another try may do better. */
async function* wellFormed(parts: AsyncIterable<StreamPart>): AsyncIterable<StreamPart> {
  for await (const part of parts) {
    if (part.type === "finish" && part.finishReason.raw === "MALFORMED_FUNCTION_CALL") {
      throw new ModelError("network", "the model wrote a tool call that its vendor could not read (MALFORMED_FUNCTION_CALL)");
    }
    yield part;
  }
}

/** Takes the place of the key off where there is none, and puts the config's parameters under what the request says. */
function createGeminiFetch(model: string, settings: GoogleSettings, fetch: VendorProviderDeps["fetch"]): typeof globalThis.fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    if (settings.apiKey === undefined && settings.headers["x-goog-api-key"] === undefined) headers.delete("x-goog-api-key");
    const text = init?.body ?? null;
    const isPlain = typeof text !== "string" || (settings.params === undefined && settings.modelParams?.[model] === undefined);
    const body = isPlain ? text : JSON.stringify(withParams(JSON.parse(text) as Record<string, unknown>, model, settings));
    return fetch(input, { ...init, headers, body });
  };
}
