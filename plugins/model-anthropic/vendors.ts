import type { ModelVendor, ProviderSettings } from "svc/sdk/internal";

export type AnthropicSettings = ProviderSettings;

export const vendors: readonly ModelVendor[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyEnv: ["ANTHROPIC_API_KEY"],
    defaultModel: "claude-sonnet-5-5", // `AnthropicMessagesModelId` of @ai-sdk/anthropic 3.0.139; not called
  },
];

/** Headers of each request, the key among them. */
export function requestHeaders({ apiKey, headers }: Pick<AnthropicSettings, "apiKey" | "headers">): Record<string, string> {
  return { ...(apiKey === undefined ? {} : { "x-api-key": apiKey }), "anthropic-version": "2023-06-01", ...headers };
}
