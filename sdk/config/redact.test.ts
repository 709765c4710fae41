import { describe, expect, test } from "vitest";
import { REDACTED_VALUE as R, redactConfig, redactText, secretsIn } from "./redact.ts";

const config = {
  gateway: { port: 18_789, auth: { mode: "token", token: "gateway-secret", rateLimit: { maxAttempts: 3 } } },
  models: { providers: { acme: { apiKey: "acme-secret", headers: { "X-Api-Key": "header-secret", Accept: "text/plain" } } } },
  agents: { defaults: { memorySearch: { store: { fts: { tokenizer: "trigram" } } } } },
  plugins: {
    entries: {
      demo: {
        config: {
          accessToken: "plugin-secret",
          nested: [{ password: "deep-secret" }],
          secrets: { one: "grouped-secret", more: ["listed-secret"] },
          maxTokens: 5,
          tokenFile: null,
          name: "plain",
        },
      },
    },
  },
};

test("every sensitive value is replaced and everything else stays", () => {
  expect(redactConfig(config)).toEqual({
    gateway: { port: 18_789, auth: { mode: "token", token: R, rateLimit: { maxAttempts: 3 } } },
    models: { providers: { acme: { apiKey: R, headers: { "X-Api-Key": R, Accept: "text/plain" } } } },
    agents: { defaults: { memorySearch: { store: { fts: { tokenizer: "trigram" } } } } },
    plugins: {
      entries: {
        demo: {
          config: {
            accessToken: R,
            nested: [{ password: R }],
            secrets: { one: R, more: [R] },
            maxTokens: 5,
            tokenFile: null,
            name: "plain",
          },
        },
      },
    },
  });
});

test("the original is left as it was", () => {
  const before = structuredClone(config);
  redactConfig(config);
  expect(config).toEqual(before);
});

test("the secrets are listed longest first", () => {
  expect(secretsIn(config)).toEqual([
    "gateway-secret",
    "grouped-secret",
    "header-secret",
    "plugin-secret",
    "listed-secret",
    "acme-secret",
    "deep-secret",
  ]);
  expect(secretsIn(undefined)).toEqual([]);
});

describe("in the text of a file", () => {
  test("secrets go, comments and layout stay", () => {
    const text = '// the door\n{ gateway: { auth: { token: "open sesame" } } } // open sesame\n';
    expect(redactText(text, { gateway: { auth: { token: "open sesame" } } })).toBe(
      `// the door\n{ gateway: { auth: { token: "${R}" } } } // ${R}\n`,
    );
  });

  test("a secret that begins like another leaves no rest of it", () => {
    const source = { gateway: { auth: { token: "abcdef", password: "abcdefghi" } } };
    const text = redactText(JSON.stringify(source), source);
    expect(text).not.toMatch(/abcdef|ghi/);
  });

  test.each([
    ["a quote", '{ gateway: { auth: { token: "se\\"cret" } } }', 'se"cret'],
    ["another notation", '{ gateway: { auth: { token: "\\x73ecret" } } }', "secret"],
    ["a line continuation", '{ gateway: { auth: { token: "sec\\\nret" } } }', "secret"],
  ])("a secret written with %s does not slip through", (_, text, token) => {
    const redacted = redactText(text, { gateway: { auth: { token } } });
    expect(JSON.parse(redacted)).toEqual({ gateway: { auth: { token: R } } });
  });
});
