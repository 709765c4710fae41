import { expect, test } from "vitest";
import { geminiAddresses } from "./addresses.ts";

test.each([
  ["https://vendor.example/v1beta", "/v1beta"],
  ["https://vendor.example/v1beta/", "/v1beta"],
  ["https://vendor.example/v1beta///", "/v1beta"],
  ["https://vendor.example", "/v1beta"],
  ["https://vendor.example/", "/v1beta"],
  ["https://vendor.example/v1beta/openai", "/v1beta"],
  ["https://vendor.example/v1beta/openai/", "/v1beta"],
  ["https://vendor.example/v1beta/openai/embeddings", "/v1beta"],
  ["https://vendor.example/openai", "/v1beta"],
  ["https://vendor.example/v1", "/v1"],
  ["https://vendor.example/v1alpha", "/v1alpha"],
  ["https://vendor.example/proxy/gemini", "/proxy/gemini/v1beta"],
  ["https://vendor.example/proxy/openai-gateway/v1beta", "/proxy/openai-gateway/v1beta"],
  ["https://vendor.example/vault", "/vault/v1beta"],
])("%s is understood", (given, path) => {
  expect(geminiAddresses(given).base).toBe(`https://vendor.example${path}`);
});

test("files go up and down beside the version", () => {
  expect(geminiAddresses("https://vendor.example/proxy/v1beta/")).toEqual({
    base: "https://vendor.example/proxy/v1beta",
    upload: "https://vendor.example/proxy/upload/v1beta",
    download: "https://vendor.example/proxy/download/v1beta",
  });
});
