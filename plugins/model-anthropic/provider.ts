import type { ModelProvider } from "svc/sdk";
import { createVendorProvider, toDeltas, type VendorCall, type VendorProviderDeps } from "svc/sdk/internal";
import { faultRules } from "./faults.ts";
import { listPath, readModels } from "./model-list.ts";
import { factsOf } from "./models.ts";
import { fieldsOf, toVendorRequest } from "./request.ts";
import { turnOf } from "./turn.ts";
import { type AnthropicSettings, credentialOf, requestHeaders } from "./vendors.ts";

/** A model provider for one server with the Messages API. */
export function createProvider(given: AnthropicSettings, deps: VendorProviderDeps): ModelProvider {
  const settings = { ...given, baseUrl: withVersion(given.baseUrl) };
  return createVendorProvider(settings, deps, {
    load: () => load(settings, deps),
    list: { path: listPath, headers: requestHeaders(settings), read: readModels },
    faults: faultRules,
    factsOf,
  });
}

/** The vendor's own tools take the address without `/v1`, so it is often written like that. */
function withVersion(baseUrl: string): string {
  return new URL(baseUrl).pathname === "/" ? new URL("/v1", baseUrl).href : baseUrl;
}

async function load(settings: AnthropicSettings, { fetch }: VendorProviderDeps): Promise<VendorCall> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const vendor = createAnthropic({
    baseURL: settings.baseUrl,
    // Without one the package would look for a key in the environment by itself.
    apiKey: "none",
    headers: settings.headers,
    fetch: createMessagesFetch(settings, fetch),
  });
  return async function* call(req, signal) {
    const { prompt, ...options } = toVendorRequest(req, settings);
    const model = vendor.chat(req.model);
    // A reader that leaves early cancels the stream, which closes the socket.
    const open = async (at: typeof prompt) => (await model.doStream({ ...options, prompt: at, abortSignal: signal })).stream;
    yield* toDeltas(turnOf(open, prompt), { endsWithReason: true, isRedacted: (meta) => hasRedactedData(meta.anthropic) });
  };
}

function hasRedactedData(meta: unknown): boolean {
  return typeof meta === "object" && meta !== null && "redactedData" in meta;
}

type SentBody = NonNullable<RequestInit["body"]> | null;

/** Puts the credential in the place that the package has for a key, and the config's parameters under what the request says. */
function createMessagesFetch(settings: AnthropicSettings, fetch: VendorProviderDeps["fetch"]): typeof globalThis.fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    if (settings.headers["x-api-key"] === undefined) headers.delete("x-api-key");
    for (const [name, value] of Object.entries(credentialOf(settings))) if (settings.headers[name] === undefined) headers.set(name, value);
    return fetch(input, { ...init, headers, body: withParams(init?.body ?? null, settings) });
  };
}

function withParams(text: SentBody, settings: AnthropicSettings): SentBody {
  if (typeof text !== "string" || (settings.params === undefined && settings.modelParams === undefined)) return text;
  const body = JSON.parse(text) as { model: string };
  return JSON.stringify({ ...fieldsOf(body.model, settings), ...body });
}
