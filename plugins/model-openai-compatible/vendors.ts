/** A vendor that needs no `baseUrl` in the config. */
export interface Vendor {
  id: string;
  name: string;
  baseUrl: string;
  /** Variable that holds the key; vendors that run on this machine have none. */
  keyEnv?: string;
  /** Model when neither an agent nor `models[]` names one. */
  defaultModel?: string;
  /** Name of the output budget in the request; the vendor refuses the older `max_tokens` for its newer models. */
  maxTokensField?: "max_completion_tokens";
}

/**
 * In the order in which keys in the environment are tried. Addresses and model names are those of each vendor's own pages, read in 2026;
 * "latest" aliases are preferred because they outlive a model.
 */
export const vendors: readonly Vendor[] = [
  {
    id: "openai",
    name: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    keyEnv: "OPENAI_API_KEY",
    defaultModel: "gpt-5.4-mini", // `ChatModel` of the openai package 6.49.0
    maxTokensField: "max_completion_tokens",
  },
  {
    id: "mistral",
    name: "Mistral",
    baseUrl: "https://api.mistral.ai/v1",
    keyEnv: "MISTRAL_API_KEY",
    defaultModel: "mistral-small-latest", // docs.mistral.ai/getting-started/models
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyEnv: "OPENROUTER_API_KEY",
    defaultModel: "openrouter/auto", // openrouter.ai/docs, "Auto Router"
  },
  {
    id: "groq",
    name: "Groq",
    baseUrl: "https://api.groq.com/openai/v1",
    keyEnv: "GROQ_API_KEY",
    defaultModel: "openai/gpt-oss-120b", // console.groq.com/docs/deprecations: the replacement of llama-3.3-70b-versatile
  },
  {
    id: "deepseek",
    name: "DeepSeek",
    baseUrl: "https://api.deepseek.com",
    keyEnv: "DEEPSEEK_API_KEY",
    defaultModel: "deepseek-flash", // api-docs.deepseek.com/quick_start/your_first_api_call
  },
  { id: "ollama", name: "Ollama", baseUrl: "http://127.0.0.1:11434/v1" }, // ollama.com/blog/openai-compatibility
  { id: "lmstudio", name: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1" }, // lmstudio.ai/docs/api/endpoints/openai
];

export function knownVendor(id: string): Vendor | undefined {
  return vendors.find((vendor) => vendor.id === id);
}
