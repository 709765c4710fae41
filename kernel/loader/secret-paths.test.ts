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
  const loaded = {
    secrets: new Map([
      ["models.providers.a.b.apiKey", "resolved"],
      ["models.providers.acme.headers.x-team", "resolved"],
    ]),
    config: { channels: { x: { pin: "1234", port: 7 } } } as never,
    source: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a config file
      models: { providers: { acme: { apiKey: "${ACME_KEY}", headers: { "x.id": "${ID}", "x-team": "${TEAM}" } }, other: {} } },
      channels: { z: { enabled: false, pin: { source: "env", id: "PIN" } } },
    },
    unresolved: [
      { path: "models.providers.acme.apiKey", reason: "variable ACME_KEY is not set" },
      { path: "models.providers.acme.headers.x.id", reason: "variable ID is not set" },
    ],
  };

  test.each([
    ['models.providers["a.b"].apiKey', "resolved"],
    ["channels.x.pin", "1234"],
    ["channels.x.port", undefined],
    ["channels.y.pin", undefined],
  ])("at %s is %s", (path, value) => {
    expect(secretAt(loaded, path)).toBe(value);
  });

  test.each([
    ["models.providers.acme.apiKey", "models.providers.acme.apiKey: set in the config, but has no value: variable ACME_KEY is not set"],
    ['models.providers["acme"].headers["x.id"]', "variable ID is not set"],
    ["models.providers.acme.headers.*", "models.providers.acme.headers.x.id: set in the config, but has no value: variable ID is not set"],
    ["channels.z.pin", "it was not asked for"],
  ])("at %s that is configured and has no value is told apart from one that is unset", (path, message) => {
    expect(() => secretAt(loaded, path)).toThrow(
      expect.objectContaining({ code: "secret-unavailable", message: expect.stringContaining(message) }),
    );
  });

  test.each(["models.providers.other.headers.*", "models.providers.other.apiKey", "models.providers.acmeX.headers.*"])(
    "beside one without a value is not blamed for it: %s",
    (path) => {
      expect(secretAt(loaded, path)).toBeUndefined();
    },
  );
});

test("what any manifest lists as secret is masked, in lists too, and nothing else", () => {
  const config = { channels: { x: { pin: "1234", port: 7 }, y: { list: [{ code: "a", n: 1 }] } } };
  expect(maskConfig(config, ["channels.*.pin", "channels.y.list.*.code", "channels.z.pin"])).toEqual({
    channels: { x: { pin: "__SVC_REDACTED__", port: 7 }, y: { list: [{ code: "__SVC_REDACTED__", n: 1 }] } },
  });
});
