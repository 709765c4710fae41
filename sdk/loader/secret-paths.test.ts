import { describe, expect, test } from "vitest";
import { fitsPath, maskConfig, secretAt } from "./secret-paths.ts";

test.each([
  ["models.providers.acme.apiKey", "models.providers.*.apiKey", true],
  ['models.providers["a.b"].apiKey', "models.providers.*.apiKey", true],
  ["models.providers.acme.headers.apiKey", "models.providers.*.apiKey", false],
  ["models.providers.acme", "models.providers.*.apiKey", false],
  ["gateway.auth.token", "models.providers.*.apiKey", false],
])("%s fits %s: %s", (path, pattern, fits) => {
  expect(fitsPath(path, pattern)).toBe(fits);
});

describe("a secret", () => {
  const loaded = { secrets: new Map([["models.providers.a.b.apiKey", "resolved"]]), config: { channels: { x: { pin: "1234", port: 7 } } } };

  test.each([
    ['models.providers["a.b"].apiKey', "resolved"],
    ["channels.x.pin", "1234"],
    ["channels.x.port", undefined],
    ["channels.y.pin", undefined],
  ])("at %s is %s", (path, value) => {
    expect(secretAt(loaded, path)).toBe(value);
  });
});

test("what any manifest lists as secret is masked, in lists too, and nothing else", () => {
  const config = { channels: { x: { pin: "1234", port: 7 }, y: { list: [{ code: "a", n: 1 }] } } };
  expect(maskConfig(config, ["channels.*.pin", "channels.y.list.*.code", "channels.z.pin"])).toEqual({
    channels: { x: { pin: "__SVC_REDACTED__", port: 7 }, y: { list: [{ code: "__SVC_REDACTED__", n: 1 }] } },
  });
});
