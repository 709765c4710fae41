import { expect, test } from "vitest";
import { placeOf, regionOf, tokenFor } from "./place.ts";

const inFrankfurt = "https://bedrock-runtime.eu-central-1.amazonaws.com/";

test.each([
  ["AWS_REGION first", { AWS_REGION: "eu-west-1", AWS_DEFAULT_REGION: "eu-west-2" }, inFrankfurt, "eu-west-1"],
  ["AWS_DEFAULT_REGION next", { AWS_REGION: " ", AWS_DEFAULT_REGION: "eu-west-2" }, inFrankfurt, "eu-west-2"],
  ["then the address", {}, inFrankfurt, "eu-central-1"],
  ["else us-east-1", {}, undefined, "us-east-1"],
  ["else us-east-1, also at another address", {}, "http://127.0.0.1:9", "us-east-1"],
])("the region: %s", (_name, env, remote, region) => {
  expect(placeOf(env, { remote }).region).toBe(region);
});

test("the address of the agent goes before the vendor's, without a slash at its end", () => {
  expect(placeOf({}, { remote: "https://a.example/x//", vendor: inFrankfurt })).toEqual({
    region: "us-east-1",
    endpoint: "https://a.example/x",
  });
  expect(placeOf({}, { vendor: inFrankfurt })).toEqual({
    region: "eu-central-1",
    endpoint: "https://bedrock-runtime.eu-central-1.amazonaws.com",
  });
  expect(placeOf({}, {})).toEqual({ region: "us-east-1" });
});

test.each([
  ["bedrock-runtime.us-west-2.amazonaws.com", "us-west-2"],
  ["bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"],
  ["vpce-0a1b.bedrock-runtime.eu-west-3.vpce.amazonaws.com", "eu-west-3"],
  ["notbedrock-runtime.us-west-2.amazonaws.com", undefined],
  ["proxy.example", undefined],
])("the region in %s is %s", (host, region) => {
  expect(regionOf(host)).toBe(region);
});

test.each(["bedrock", "ftp://bedrock.example", "https://user:pass@bedrock.example"])("an address such as %s is refused", (remote) => {
  expect(() => placeOf({}, { remote })).toThrow(/memorySearch\.remote\.baseUrl: expected an http or https address without credentials/);
  expect(() => placeOf({}, { vendor: remote })).toThrow(/models\.providers\.amazon-bedrock\.baseUrl/);
  expect(() => placeOf({}, { remote })).not.toThrow(/user:pass/);
});

test("an API key of the environment goes to the vendor and to the address of its own entry, nowhere else", () => {
  const env = { AWS_BEARER_TOKEN_BEDROCK: "token" };
  const at = (endpoint: string | undefined, vendor?: string) =>
    tokenFor(env, { region: "us-east-1", ...(endpoint === undefined ? {} : { endpoint }) }, { vendor });
  expect(at(undefined)).toBe("token");
  expect(at("https://bedrock-runtime.eu-central-1.amazonaws.com")).toBe("token");
  expect(at("https://vpce-1.bedrock-runtime.eu-west-3.vpce.amazonaws.com")).toBe("token");
  expect(at("https://proxy.example/bedrock", "https://proxy.example")).toBe("token");
  expect(at("http://bedrock-runtime.eu-central-1.amazonaws.com")).toBeUndefined();
  expect(at("https://proxy.example")).toBeUndefined();
  expect(at("https://amazonaws.com.example")).toBeUndefined();
  expect(at("https://proxy.example", "http://proxy.example")).toBeUndefined();
});

test("a key that the agent names for this address goes there", () => {
  expect(tokenFor({}, { region: "us-east-1", endpoint: "https://proxy.example" }, { own: "mine" })).toBe("mine");
});
