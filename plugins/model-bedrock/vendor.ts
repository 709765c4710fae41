import type { ModelInfo } from "svc/sdk";
import type { ModelVendor } from "svc/sdk/internal";

const DEFAULT_REGION = "us-east-1";

/** Amazon Bedrock in the region of the environment. */
export function bedrockVendor(env: (name: string) => string | undefined): ModelVendor {
  const region = env("AWS_REGION") ?? env("AWS_DEFAULT_REGION") ?? DEFAULT_REGION;
  return {
    id: "amazon-bedrock",
    name: "Amazon Bedrock",
    baseUrl: `https://bedrock-runtime.${region}.amazonaws.com`,
    keyEnv: ["AWS_BEARER_TOKEN_BEDROCK"],
    signsRequests: true,
    defaultModel: knownModels[0]?.id as string,
  };
}

/** Models that need no entry in the config: global inference profiles, which work in every commercial region (AWS user guide, "Supported Regions and models for inference profiles"). */
export const knownModels: readonly ModelInfo[] = [
  { id: "global.anthropic.claude-haiku-4-5-20251001-v1:0", name: "Claude Haiku 4.5" },
  { id: "global.anthropic.claude-sonnet-4-5-20250929-v1:0", name: "Claude Sonnet 4.5" },
].map((model) => ({ ...model, contextWindow: 200_000, maxTokens: 64_000, reasoning: true, input: ["text", "image", "pdf"] }));

/** Inference profiles and ARNs name the model they lead to. */
export function isClaude(model: string): boolean {
  return /(?:^|[./])anthropic\.claude-/.test(model);
}

/** Version of a Claude as a number, 405 for 4.5; 0 for others and the oldest ones. */
export function claudeVersion(model: string): number {
  const [, major, minor] = /(?:^|[./])anthropic\.claude-(?:[a-z]+-)?(\d{1,2})(?:-(\d{1,2}))?(?=[-.:]|$)/.exec(model) ?? [];
  return Number(major ?? 0) * 100 + Number(minor ?? 0);
}

/** Models of the other makers, and the older ones of this one, refuse requests with marks for the cache (AWS user guide, "Prompt caching"). */
export function cachesPrompts(model: string): boolean {
  return claudeVersion(model) >= 307 || /(?:^|[./])anthropic\.claude-3-5-haiku/.test(model);
}
