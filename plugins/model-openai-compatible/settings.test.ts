import { commonErrors } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { secretErrors } from "../../test/tools/secret-errors.ts";
import { withSecrets } from "./secrets.ts";
import { modelParamsOf, resolveProviders } from "./settings.ts";

const noEnv = () => undefined;
const env = (values: Record<string, string>) => (name: string) => values[name];

function one(config: Parameters<typeof resolveProviders>[0], from: (name: string) => string | undefined = noEnv) {
  const provider = resolveProviders(config, from).providers[0];
  if (!provider) throw new Error("no provider");
  return provider;
}

describe("which providers there are", () => {
  test("none without config and keys", () => {
    expect(resolveProviders({}, noEnv)).toEqual({ providers: [], skipped: [] });
  });

  test("the configured ones first, then those whose key is in the environment, once each", () => {
    const keys = env({ OPENAI_API_KEY: "a", MISTRAL_API_KEY: "b", GROQ_API_KEY: "c", DEEPSEEK_API_KEY: "d", OPENROUTER_API_KEY: "e" });

    const { providers } = resolveProviders({ lab: { baseUrl: "http://10.0.0.5:8000/v1" }, mistral: {} }, keys);

    expect(providers.map((p) => p.id)).toEqual(["lab", "mistral", "openai", "openrouter", "groq", "deepseek"]);
    expect(providers.every((p) => p.unavailable === undefined)).toBe(true);
  });

  test("a vendor without a known address needs baseUrl", () => {
    const { providers, skipped } = resolveProviders({ acme: { apiKey: "k" } }, noEnv);

    expect(providers).toEqual([]);
    expect(skipped).toEqual([{ id: "acme", reason: expect.stringContaining("set baseUrl") }]);
  });

  test.each([
    ["anthropic-messages", { api: "anthropic-messages" as const }],
    ["ollama", { api: "ollama" as const }],
    ["aws-sdk", { auth: "aws-sdk" as const }],
  ])("one that speaks otherwise (%s) is left to another plugin", (name, other) => {
    const { providers, skipped } = resolveProviders({ acme: { baseUrl: "https://acme.example", apiKey: "k", ...other } }, noEnv);
    expect(providers).toEqual([]);
    expect(skipped).toEqual([{ id: "acme", reason: expect.stringContaining(`"${name}" is not spoken here`) }]);
  });
});

describe("an entry whose secret cannot be had", () => {
  const lost = (path: string) => {
    throw secretErrors.secretUnavailable({ path, reason: "not set" });
  };
  const vendorKey = env({ OPENAI_API_KEY: "of-somebody-else" });

  test.each(["apiKey", "headers.*"])("is skipped with the reason, and the vendor's key does not step in for its %s", (part) => {
    const { entries, unavailable } = withSecrets({ openai: {} }, (path) => (path.endsWith(part) ? lost(path) : undefined));

    expect(resolveProviders(entries, vendorKey, unavailable)).toEqual({
      providers: [],
      skipped: [{ id: "openai", reason: expect.stringContaining("has no value: not set") }],
    });
  });

  test("takes no other entry with it", () => {
    const { entries, unavailable } = withSecrets({ groq: { apiKey: "masked" }, openai: {} }, (path) =>
      path.includes("openai") ? lost(path) : path.endsWith("apiKey") ? "mine" : undefined,
    );

    expect(resolveProviders(entries, vendorKey, unavailable).providers).toMatchObject([{ id: "groq", apiKey: "mine" }]);
  });

  test("is used all the same when it sends no key", () => {
    const { entries, unavailable } = withSecrets({ openai: { auth: "none" } }, (path) =>
      path.endsWith("apiKey") ? lost(path) : undefined,
    );

    expect(resolveProviders(entries, vendorKey, unavailable).providers.map((p) => p.apiKey)).toEqual([undefined]);
  });

  test("does not hide any other fault", () => {
    const refuse = () => {
      throw commonErrors.failed({ message: "undeclared" });
    };
    expect(() => withSecrets({ openai: {} }, refuse)).toThrow(expect.objectContaining({ code: "failed" }));
  });
});

describe("what a provider is made of", () => {
  test("a known vendor brings address and model", () => {
    expect(one({ mistral: { apiKey: "k" } })).toMatchObject({
      baseUrl: "https://api.mistral.ai/v1",
      apiKey: "k",
      defaultModel: "mistral-small-latest",
      timeoutMs: 120_000,
      maxTokensField: "max_tokens",
    });
  });

  test.each([
    ["ollama", {}, 600_000],
    ["lmstudio", {}, 600_000],
    ["mistral", { apiKey: "k" }, 120_000],
    ["ollama", { timeoutSeconds: 5 }, 5_000],
  ])("%s %j may take its time for the first word", (id, entry, firstAnswerMs) => {
    expect(one({ [id]: entry })).toMatchObject({ firstAnswerMs });
  });

  test("the config wins over the vendor and the environment", () => {
    const config = { openai: { apiKey: "mine", timeoutSeconds: 5, models: [{ id: "gpt-x", contextWindow: 10, name: undefined }] } };

    expect(one(config, env({ OPENAI_API_KEY: "other" }))).toMatchObject({
      apiKey: "mine",
      timeoutMs: 5_000,
      defaultModel: "gpt-x",
      models: [{ id: "gpt-x", contextWindow: 10 }],
      maxTokensField: "max_completion_tokens",
    });
  });

  test("trailing slashes go; a plain Ollama address gets its /v1", () => {
    expect(one({ lab: { baseUrl: "http://lab:8000/v1//" } }).baseUrl).toBe("http://lab:8000/v1");
    expect(one({ ollama: { baseUrl: "http://box:11434" } }).baseUrl).toBe("http://box:11434/v1");
    expect(one({ ollama: {} }).baseUrl).toBe("http://127.0.0.1:11434/v1");
  });

  test("a vendor's key from the environment goes to the address that the vendor's own entry names", () => {
    const keys = env({ OPENAI_API_KEY: "secret" });
    const proxy = { baseUrl: "http://127.0.0.1:8080/v1" };

    expect(one({ openai: {} }, keys).apiKey).toBe("secret");
    expect(one({ openai: proxy }, keys)).toMatchObject({ apiKey: "secret", ...proxy });
    expect(one({ openai: { ...proxy, apiKey: "mine" } }, keys).apiKey).toBe("mine");
  });

  test("a vendor's key from the environment goes to no server of another entry, and to none that wants no key", () => {
    const keys = env({ OPENAI_API_KEY: "secret" });

    expect(one({ lab: { baseUrl: "https://api.openai.com/v1" } }, keys).apiKey).toBeUndefined();
    expect(one({ openai: { baseUrl: "http://127.0.0.1:8080/v1", auth: "none" } }, keys).apiKey).toBeUndefined();
  });

  test("an authorization header of one's own replaces the key", () => {
    const provider = one({ lab: { baseUrl: "http://lab/v1", apiKey: "k", headers: { Authorization: "Basic abc" } } });

    expect(provider.headers).toEqual({ authorization: "Basic abc" });
    expect(provider.apiKey).toBeUndefined();
  });
});

describe("whether it can be used", () => {
  test.each([
    [{ openai: {} }, "no API key; set models.providers.openai.apiKey in the config file or OPENAI_API_KEY in the environment"],
    [{ openai: { apiKey: "k" } }, undefined],
    [{ openai: { auth: "none" as const } }, undefined],
    [{ lab: { baseUrl: "http://lab/v1" } }, undefined],
    [{ ollama: {} }, undefined],
    [
      { lab: { baseUrl: "http://u:p@lab/v1" } },
      "models.providers.lab.baseUrl: credentials do not belong into the address; use apiKey or headers.authorization",
    ],
  ])("%j", (config, unavailable) => {
    expect(one(config).unavailable).toBe(unavailable);
  });
});

test("parameters of single models are found by provider and id", () => {
  const models = { "lab/a/b": { params: { top_k: 1 } }, "lab/c": { alias: "c" }, "other/a": { params: { top_k: 2 } } };
  expect(modelParamsOf(models, "lab")).toEqual({ "a/b": { top_k: 1 } });
});
