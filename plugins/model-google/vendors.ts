import type { ModelVendor, ProviderSettings } from "svc/sdk/internal";

export type GoogleSettings = ProviderSettings;

export const vendors: readonly ModelVendor[] = [
  {
    id: "google",
    name: "Google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keyEnv: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    defaultModel: "gemini-flash-latest", // `GoogleGenerativeAIModelId` of @ai-sdk/google 3.0.141, an alias that outlives a model; not called
  },
];

/** Headers of each request, the key among them. */
export function requestHeaders({ apiKey, headers }: Pick<GoogleSettings, "apiKey" | "headers">): Record<string, string> {
  return { ...(apiKey === undefined ? {} : { "x-goog-api-key": apiKey }), ...headers };
}
