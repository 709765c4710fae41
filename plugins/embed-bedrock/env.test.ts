import { expect, test } from "vitest";
import { isMetadataDisabled, threadEnv } from "./env.ts";

const quiet = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" };

test("the thread gets what is set, without the package's warning about this Node", () => {
  const env = { HOME: "/home/x", AWS_PROFILE: "p", UNSET: undefined };
  expect(threadEnv(env, { metadata: true, token: undefined })).toEqual({ HOME: "/home/x", AWS_PROFILE: "p", ...quiet });
});

test("an API key is there only when this address may have it", () => {
  const env = { AWS_BEARER_TOKEN_BEDROCK: "of the environment" };
  expect(threadEnv(env, { metadata: true, token: undefined })).toEqual(quiet);
  expect(threadEnv(env, { metadata: true, token: "other" })).toEqual({ ...quiet, AWS_BEARER_TOKEN_BEDROCK: "other" });
});

test("the metadata address is switched off where it must not be asked, and stays off where the operator said so", () => {
  expect(threadEnv({}, { metadata: false, token: undefined })).toEqual({ ...quiet, AWS_EC2_METADATA_DISABLED: "true" });
  const env = { AWS_EC2_METADATA_DISABLED: "true" };
  expect(threadEnv(env, { metadata: true, token: undefined })).toEqual({ ...quiet, ...env });
});

test.each([
  [undefined, false],
  ["", false],
  ["false", false],
  ["true", true],
  ["1", true],
])("AWS_EC2_METADATA_DISABLED=%s is %s", (value, disabled) => {
  expect(isMetadataDisabled({ AWS_EC2_METADATA_DISABLED: value })).toBe(disabled);
});
