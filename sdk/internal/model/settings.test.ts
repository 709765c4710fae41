import { describe, expect, test } from "vitest";
import { secretErrors } from "../../../test/tools/secret-errors.ts";
import { commonErrors } from "../../errors.ts";
import { withSecrets as readSecrets } from "./secrets.ts";
import { apiOf, type ModelVendor, modelParamsOf, resolveProviders as resolve } from "./settings.ts";

const vendors: ModelVendor[] = [
  { id: "acme", name: "Acme", baseUrl: "https://api.acme.example/v1", keyEnv: ["ACME_API_KEY", "ACME_KEY"], defaultModel: "acme-small" },
  { id: "bolt", name: "Bolt", baseUrl: "https://bolt.example/v1", keyEnv: ["BOLT_API_KEY"], defaultModel: "bolt-1" },
  { id: "cube", name: "Cube", baseUrl: "https://cube.example/v1", keyEnv: ["CUBE_API_KEY"] },
  { id: "here", name: "Here", baseUrl: "http://127.0.0.1:1234/v1" },
  { id: "own", name: "Own", keyEnv: ["OWN_API_KEY"] },
];
const api = "openai-completions";
type Config = Parameters<typeof resolve>[0];

function resolveProviders(config: Config, from: (name: string) => string | undefined, unavailable?: ReadonlyMap<string, string>) {
  return resolve(config, { api, vendors, env: from, ...(unavailable ? { unavailable } : {}) });
}
const withSecrets = (config: Config, secret: (path: string) => string | undefined) => readSecrets(config, { api, secret });
const noEnv = () => undefined;
const env = (values: Record<string, string>) => (name: string) => values[name];

function one(config: Config, from: (name: string) => string | undefined = noEnv) {
  const provider = resolveProviders(config, from).providers[0];
  if (!provider) throw new Error("no provider");
  return provider;
}

describe("which providers there are", () => {
  test("none without config and keys", () => {
    expect(resolveProviders({}, noEnv)).toEqual({ providers: [], skipped: [] });
  });

  test("the configured ones first, then those whose key is in the environment, once each", () => {
    const keys = env({ ACME_KEY: "a", BOLT_API_KEY: "b", CUBE_API_KEY: "c" });

    const { providers } = resolveProviders({ lab: { baseUrl: "http://10.0.0.5:8000/v1" }, bolt: {} }, keys);

    expect(providers.map((p) => p.id)).toEqual(["lab", "bolt", "acme", "cube"]);
    expect(providers.every((p) => p.unavailable === undefined)).toBe(true);
  });

  test("a vendor with an address for each customer comes with an entry that names it, and its key from the environment", () => {
    const keys = env({ OWN_API_KEY: "k" });
    expect(resolveProviders({}, keys)).toEqual({ providers: [], skipped: [] });
    expect(resolveProviders({ own: {} }, keys).skipped).toEqual([{ id: "own", reason: expect.stringContaining("set it as baseUrl") }]);
    expect(one({ own: { baseUrl: "https://me.own.example" } }, keys)).toMatchObject({ apiKey: "k", baseUrl: "https://me.own.example" });
  });

  test("a key in the environment brings a vendor in its own wire format only", () => {
    const openai = { id: "openai", name: "OpenAI", baseUrl: "https://api.openai.example/v1", keyEnv: ["OPENAI_API_KEY"] };
    const from = { vendors: [openai], env: env({ OPENAI_API_KEY: "k" }) };
    const proxy = { openai: { baseUrl: "http://127.0.0.1:1/v1" } };

    expect(resolve({}, { api: "openai-completions", ...from }).providers).toEqual([]);
    expect(resolve({}, { api: "openai-responses", ...from }).providers).toMatchObject([{ id: "openai", apiKey: "k" }]);
    expect(resolve(proxy, { api: "openai-completions", ...from }).providers).toMatchObject([{ id: "openai", apiKey: "k" }]);
    expect(resolve(proxy, { api: "openai-responses", ...from }).providers).toEqual([]);
  });

  test("a vendor without a known address needs baseUrl", () => {
    const { providers, skipped } = resolveProviders({ nova: { apiKey: "k" } }, noEnv);

    expect(providers).toEqual([]);
    expect(skipped).toEqual([{ id: "nova", reason: expect.stringContaining("set baseUrl") }]);
  });

  test.each([
    ["anthropic-messages", "nova", { api: "anthropic-messages" as const }],
    ["bedrock-converse", "nova", { auth: "aws-sdk" as const }],
    ["anthropic-messages", "anthropic", { baseUrl: "https://proxy.example" }],
    ["google-generative-ai", "google", {}],
    ["openai-responses", "openai", { baseUrl: undefined }],
    ["ollama", "ollama", {}],
    ["ollama", "ollama", { baseUrl: "http://10.0.0.5:11434" }],
    ["openai-completions", "ollama", { baseUrl: "http://10.0.0.5:11434/v1/" }],
    ["openai-completions", "openai", { baseUrl: "https://proxy.example/v1" }],
    ["openai-responses", "openai", { baseUrl: "https://proxy.example/v1", api: "openai-responses" as const }],
    ["openai-completions", "google", { api: "openai-completions" as const, baseUrl: "https://proxy.example/v1" }],
    ["openai-completions", "nova", { baseUrl: "https://nova.example/v1" }],
    ["openai-completions", "constructor", {}],
  ])("the wire format is %s for %s with %j", (format, id, entry) => {
    expect(apiOf(id, entry)).toBe(format);
    const { providers, skipped } = resolveProviders({ [id]: { baseUrl: "https://a.example", apiKey: "k", ...entry } }, noEnv);
    expect(providers.map((p) => p.id)).toEqual(format === api ? [id] : []);
    expect(skipped).toEqual([]);
  });
});

describe("an entry whose secret cannot be had", () => {
  const lost = (path: string) => {
    throw secretErrors.secretUnavailable({ path, reason: "not set" });
  };
  const vendorKey = env({ ACME_API_KEY: "of-somebody-else" });

  test.each(["apiKey", "headers.*"])("is skipped with the reason, and the vendor's key does not step in for its %s", (part) => {
    const { entries, unavailable } = withSecrets({ acme: {} }, (path) => (path.endsWith(part) ? lost(path) : undefined));

    expect(resolveProviders(entries, vendorKey, unavailable)).toEqual({
      providers: [],
      skipped: [{ id: "acme", reason: expect.stringContaining("has no value: not set") }],
    });
  });

  test("takes no other entry with it", () => {
    const { entries, unavailable } = withSecrets({ bolt: { apiKey: "masked" }, acme: {} }, (path) =>
      path.includes("acme") ? lost(path) : path.endsWith("apiKey") ? "mine" : undefined,
    );

    expect(resolveProviders(entries, vendorKey, unavailable).providers).toMatchObject([{ id: "bolt", apiKey: "mine" }]);
  });

  test("is used all the same when it sends no key", () => {
    const { entries, unavailable } = withSecrets({ acme: { auth: "none" } }, (path) => (path.endsWith("apiKey") ? lost(path) : undefined));

    expect(resolveProviders(entries, vendorKey, unavailable).providers.map((p) => p.apiKey)).toEqual([undefined]);
  });

  test("does not hide any other fault", () => {
    const refuse = () => {
      throw commonErrors.failed({ message: "undeclared" });
    };
    expect(() => withSecrets({ acme: {} }, refuse)).toThrow(expect.objectContaining({ code: "failed" }));
  });
});

describe("what a provider is made of", () => {
  test("a known vendor brings address and model", () => {
    expect(one({ acme: { apiKey: "k" } })).toMatchObject({
      baseUrl: "https://api.acme.example/v1",
      apiKey: "k",
      defaultModel: "acme-small",
      timeoutMs: 120_000,
      vendor: { id: "acme" },
    });
  });

  test.each([
    ["here", {}, 600_000],
    ["acme", { apiKey: "k" }, 120_000],
    ["here", { timeoutSeconds: 5 }, 5_000],
  ])("%s %j may take its time for the first word", (id, entry, firstAnswerMs) => {
    expect(one({ [id]: entry })).toMatchObject({ firstAnswerMs });
  });

  test("the config wins over the vendor and the environment", () => {
    const config = { acme: { apiKey: "mine", timeoutSeconds: 5, models: [{ id: "gpt-x", contextWindow: 10, name: undefined }] } };

    expect(one(config, env({ ACME_API_KEY: "other" }))).toMatchObject({
      apiKey: "mine",
      timeoutMs: 5_000,
      defaultModel: "gpt-x",
      models: [{ id: "gpt-x", contextWindow: 10 }],
    });
  });

  test("trailing slashes go", () => {
    expect(one({ lab: { baseUrl: "http://lab:8000/v1//" } }).baseUrl).toBe("http://lab:8000/v1");
  });

  test("a vendor's key from the environment goes to the address that the vendor's own entry names", () => {
    const keys = env({ ACME_API_KEY: "secret" });
    const proxy = { baseUrl: "http://127.0.0.1:8080/v1" };

    expect(one({ acme: {} }, keys).apiKey).toBe("secret");
    expect(one({ acme: proxy }, keys)).toMatchObject({ apiKey: "secret", ...proxy });
    expect(one({ acme: { ...proxy, apiKey: "mine" } }, keys).apiKey).toBe("mine");
  });

  test("a vendor's key from the environment goes to no server of another entry, and to none that wants no key", () => {
    const keys = env({ ACME_API_KEY: "secret" });

    expect(one({ lab: { baseUrl: "https://api.acme.example/v1" } }, keys).apiKey).toBeUndefined();
    expect(one({ acme: { baseUrl: "http://127.0.0.1:8080/v1", auth: "none" } }, keys).apiKey).toBeUndefined();
  });

  test("says where its key comes from, never what it is", () => {
    const keys = env({ ACME_KEY: "secret", BOLT_API_KEY: "secret" });
    const sources: Array<[Config, string | undefined]> = [
      [{ acme: {} }, "ACME_KEY"],
      [{ acme: { apiKey: "mine" } }, "models.providers.acme.apiKey"],
      [{ lab: { baseUrl: "http://lab/v1", headers: { Authorization: "Basic abc" } } }, "models.providers.lab.headers.authorization"],
      [{ lab: { baseUrl: "http://lab/v1" } }, undefined],
      [{ acme: { auth: "none" } }, undefined],
      [{ cube: {} }, undefined],
    ];
    for (const [config, source] of sources) expect(one(config, keys).keySource).toBe(source);
  });

  test("an authorization header of one's own replaces the key", () => {
    const provider = one({ lab: { baseUrl: "http://lab/v1", apiKey: "k", headers: { Authorization: "Basic abc" } } });

    expect(provider.headers).toEqual({ authorization: "Basic abc" });
    expect(provider.apiKey).toBeUndefined();
  });
});

describe("whether it can be used", () => {
  test.each([
    [{ acme: {} }, "no API key; set models.providers.acme.apiKey in the config file or ACME_API_KEY in the environment"],
    [{ acme: { apiKey: "k" } }, undefined],
    [{ acme: { auth: "none" as const } }, undefined],
    [{ lab: { baseUrl: "http://lab/v1" } }, undefined],
    [{ here: {} }, undefined],
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
