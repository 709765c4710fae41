import { expect, test } from "vitest";
import { bedrockVendor, cachesPrompts, claudeVersion, isClaude, knownModels } from "./vendor.ts";

const env = (values: Record<string, string>) => (name: string) => values[name];

test.each([
  [{}, "us-east-1"],
  [{ AWS_DEFAULT_REGION: "eu-west-3" }, "eu-west-3"],
  [{ AWS_REGION: "eu-central-1", AWS_DEFAULT_REGION: "eu-west-3" }, "eu-central-1"],
])("with %j the address is that of %s", (values, region) => {
  const vendor = bedrockVendor(env(values));
  expect(vendor).toMatchObject({ id: "amazon-bedrock", keyEnv: ["AWS_BEARER_TOKEN_BEDROCK"], defaultModel: knownModels[0]?.id });
  expect(vendor.baseUrl).toBe(`https://bedrock-runtime.${region}.amazonaws.com`);
});

test.each<[model: string, version: number, caches: boolean]>([
  ["global.anthropic.claude-haiku-4-5-20251001-v1:0", 405, true],
  ["us.anthropic.claude-opus-4-6-v1", 406, true],
  ["arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-20250514-v1:0", 400, true],
  ["anthropic.claude-sonnet-5-20260801", 500, true],
  ["anthropic.claude-3-7-sonnet-20250219-v1:0", 307, true],
  ["anthropic.claude-3-5-haiku-20241022-v1:0", 305, true],
  ["anthropic.claude-3-5-sonnet-20240620-v1:0", 305, false],
  ["anthropic.claude-3-haiku-20240307-v1:0", 300, false],
  ["anthropic.claude-v2:1", 0, false],
])("%s is a Claude %i; it keeps prompts: %s", (model, version, caches) => {
  expect([isClaude(model), claudeVersion(model), cachesPrompts(model)]).toEqual([true, version, caches]);
});

test.each(["amazon.nova-pro-v1:0", "notanthropic.claude-4", "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc"])(
  "%s is none",
  (model) => {
    expect([isClaude(model), claudeVersion(model), cachesPrompts(model)]).toEqual([false, 0, false]);
  },
);
