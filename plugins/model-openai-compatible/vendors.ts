import type { ModelVendor, ProviderSettings } from "svc/sdk/internal";

/** A vendor with the chat completions protocol. */
export interface ChatVendor extends ModelVendor {
  /** Name of the output budget in the request, default `max_tokens`; the vendor refuses that one for its newer models. */
  maxTokensField?: "max_completion_tokens";
  /** Header that carries the key; default: `authorization`, as a bearer token. */
  keyHeader?: "api-key";
  /** Requests name deployments, of which the server has no list: what it lists are the models they may be made of. */
  hasDeployments?: true;
}

export type ChatSettings = ProviderSettings<ChatVendor>;

/**
 * In the order in which keys in the environment are tried. Behind each default model stands where its name was read; none of them was called.
 * "Latest" aliases and routers are preferred because they outlive a model.
 */
export const vendors: readonly ChatVendor[] = [
  // With an address of one's own, or by its `api`: otherwise `model-openai` talks to it.
  {
    id: "openai",
    name: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    keyEnv: ["OPENAI_API_KEY"],
    defaultModel: "gpt-5.4-mini", // `ChatModel` of the openai package 6.49.0
    maxTokensField: "max_completion_tokens",
  },
  {
    id: "mistral",
    name: "Mistral",
    baseUrl: "https://api.mistral.ai/v1",
    keyEnv: ["MISTRAL_API_KEY"],
    defaultModel: "mistral-small-latest", // docs.mistral.ai/getting-started/models, column "API Endpoints"
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyEnv: ["OPENROUTER_API_KEY"],
    defaultModel: "openrouter/auto", // the vendor's router, by third-party pages
  },
  {
    id: "groq",
    name: "Groq",
    baseUrl: "https://api.groq.com/openai/v1",
    keyEnv: ["GROQ_API_KEY"],
    defaultModel: "openai/gpt-oss-120b", // replaces llama-3.3-70b-versatile (ends 2026-08-16), by third-party pages
  },
  {
    id: "deepseek",
    name: "DeepSeek",
    baseUrl: "https://api.deepseek.com",
    keyEnv: ["DEEPSEEK_API_KEY"],
    defaultModel: "deepseek-flash", // api-docs.deepseek.com/quick_start/your_first_api_call
  },
  {
    id: "xai",
    name: "xAI",
    baseUrl: "https://api.x.ai/v1", // docs.x.ai/docs/introduction
    keyEnv: ["XAI_API_KEY"],
    defaultModel: "grok-4.3", // docs.agora.io/en/conversational-ai/models/llm/xai
  },
  {
    id: "together",
    name: "Together",
    baseUrl: "https://api.together.ai/v1", // docs.together.ai/docs/inference/openai-compatibility
    keyEnv: ["TOGETHER_API_KEY"],
    defaultModel: "openai/gpt-oss-20b", // the same page
  },
  {
    id: "fireworks",
    name: "Fireworks",
    baseUrl: "https://api.fireworks.ai/inference/v1", // docs.workato.com/en/ai-gateway/fireworks
    keyEnv: ["FIREWORKS_API_KEY"],
    defaultModel: "accounts/fireworks/models/gpt-oss-120b", // the same page
  },
  {
    id: "azure",
    name: "Azure OpenAI",
    keyEnv: ["AZURE_OPENAI_API_KEY"], // learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
    keyHeader: "api-key", // learn.microsoft.com/azure/ai-services/openai/reference
    maxTokensField: "max_completion_tokens",
    hasDeployments: true,
  },
  // Its own interface is `model-ollama`'s; this one comes with an address that ends in `/v1`, or by its `api`.
  { id: "ollama", name: "Ollama", baseUrl: "http://127.0.0.1:11434/v1" },
  { id: "lmstudio", name: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1" },
  { id: "vllm", name: "vLLM", baseUrl: "http://127.0.0.1:8000/v1" }, // docs.vllm.ai/en/latest/serving/openai_compatible_server.html
  { id: "llamacpp", name: "llama.cpp server", baseUrl: "http://127.0.0.1:8080/v1" }, // github.com/ggml-org/llama.cpp, tools/server
];
