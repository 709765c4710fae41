import type { ModelVendor } from "svc/sdk/internal";

/** Vendors whose own wire format is the Responses API. */
export const vendors: readonly ModelVendor[] = [
  {
    id: "openai",
    name: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    keyEnv: ["OPENAI_API_KEY"],
    defaultModel: "gpt-5.4-mini", // `ChatModel` of the openai package 6.49.0
  },
];
