import type { ModelVendor, ProviderSettings } from "svc/sdk/internal";

export type AnthropicSettings = ProviderSettings;

/** Holds a bearer token in the place of a key, as gateways in front of the vendor want one. */
const TOKEN_ENV = "ANTHROPIC_AUTH_TOKEN";

export const vendors: readonly ModelVendor[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyEnv: ["ANTHROPIC_API_KEY", TOKEN_ENV],
    defaultModel: "claude-sonnet-5-5", // `AnthropicMessagesModelId` of @ai-sdk/anthropic 3.0.139; not called
  },
];

/** Headers of each request, the key among them. */
export function requestHeaders(settings: Pick<AnthropicSettings, "apiKey" | "keySource" | "headers">): Record<string, string> {
  return { ...credentialOf(settings), "anthropic-version": "2023-06-01", ...settings.headers };
}

/** The header with the key, or with the token in its place. */
export function credentialOf({ apiKey, keySource }: Pick<AnthropicSettings, "apiKey" | "keySource">): Record<string, string> {
  if (apiKey === undefined) return {};
  return keySource === TOKEN_ENV ? { authorization: `Bearer ${apiKey}` } : { "x-api-key": apiKey };
}
