import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { collect, modelRequest, quiet, textOf } from "../../test/fixtures/model-provider.ts";
import { createProvider } from "./provider.ts";
import { type ChatSettings, vendors } from "./vendors.ts";

const files = Promise.all(["svc.plugin.json", "README.md"].map((name) => readFile(new URL(name, import.meta.url), "utf8")));

test.each([
  ["openai", "https://api.openai.com/v1", "OPENAI_API_KEY"],
  ["mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"],
  ["openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"],
  ["groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"],
  ["deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY"],
  ["xai", "https://api.x.ai/v1", "XAI_API_KEY"],
  ["together", "https://api.together.ai/v1", "TOGETHER_API_KEY"],
  ["fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"],
  ["azure", undefined, "AZURE_OPENAI_API_KEY"],
  ["ollama", "http://127.0.0.1:11434/v1", undefined],
  ["lmstudio", "http://127.0.0.1:1234/v1", undefined],
  ["vllm", "http://127.0.0.1:8000/v1", undefined],
  ["llamacpp", "http://127.0.0.1:8080/v1", undefined],
])("vendor %s has the address %s and the key %s, in the manifest and in the README", async (id, baseUrl, key) => {
  const vendor = vendors.find((one) => one.id === id);
  const [manifest = "", readme = ""] = await files;
  const { secrets } = JSON.parse(manifest) as { secrets: Array<{ path: string; env?: string[] }> };

  expect(vendor).toMatchObject(baseUrl === undefined ? {} : { baseUrl });
  expect(vendor?.keyEnv).toEqual(key === undefined ? undefined : [key]);
  // A key alone is enough for an answer.
  expect(vendor?.defaultModel !== undefined).toBe(key !== undefined && baseUrl !== undefined);
  expect(secrets.find(({ path }) => path === `models.providers.${id}.apiKey`)?.env).toEqual(vendor?.keyEnv);
  expect(readme).toContain(`\`${id}\``);
  for (const text of [key, vendor?.defaultModel]) if (text !== undefined) expect(readme).toContain(`\`${text}\``);
});

test("each vendor is in that table once", () => {
  expect(new Set(vendors.map(({ id }) => id)).size).toBe(13);
  expect(vendors).toHaveLength(13);
});

const answer = [
  { id: "1", choices: [{ index: 0, delta: { role: "assistant", content: "ok" }, finish_reason: null }] },
  { id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
];

/** A provider for an address, with what it asks for. */
function azure(baseUrl: string, more: Partial<ChatSettings> = {}) {
  const user: Array<{ url: string; headers: Headers; body: unknown }> = [];
  const vendor = vendors.find(({ id }) => id === (more.id ?? "azure"));
  const settings = {
    id: "azure",
    name: "Azure",
    baseUrl,
    apiKey: "key-0123456789",
    headers: {},
    timeoutMs: 1,
    firstAnswerMs: 1,
    models: [],
    ...more,
  };
  const provider = createProvider(vendor ? { ...settings, vendor } : settings, {
    async fetch(url, init = {}) {
      user.push({
        url: String(url),
        headers: new Headers(init.headers),
        body: init.body === undefined ? undefined : JSON.parse(String(init.body)),
      });
      const text = `${answer.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
      return new Response(init.body === undefined ? '{"data":[]}' : text, { headers: { "content-type": "text/event-stream" } });
    },
    clock: { now: () => 0, monotonic: () => 0 },
    logger: quiet,
  });
  return { provider, user };
}

test.each([
  ["https://me.openai.azure.com", "https://me.openai.azure.com/openai/v1/chat/completions"],
  ["https://me.openai.azure.com/openai/v1/", "https://me.openai.azure.com/openai/v1/chat/completions"],
  ["https://me.openai.azure.com/?api-version=preview", "https://me.openai.azure.com/openai/v1/chat/completions?api-version=preview"],
  [
    "https://me.openai.azure.com/openai/deployments/gpt",
    "https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
  ],
  [
    "https://me.openai.azure.com/openai/deployments/gpt?api-version=2025-01-01",
    "https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2025-01-01",
  ],
])("the resource address %s of Azure is user with the key in its own header", async (baseUrl, url) => {
  const { provider, user } = azure(baseUrl);
  expect(textOf(await collect(provider, modelRequest("mine", { sampling: { maxTokens: 5 } })))).toBe("ok");

  expect(user.map((one) => one.url)).toEqual([url]);
  expect(user[0]?.headers.get("api-key")).toBe("key-0123456789");
  expect(user[0]?.headers.has("authorization")).toBe(false);
  expect(user[0]?.body).toMatchObject({ model: "mine", max_completion_tokens: 5 });
});

test("a deployment that the address names is the model; others are those of the config, and a probe asks the server", async () => {
  const { provider, user } = azure("https://me.openai.azure.com/openai/deployments/gpt%2D4");
  expect(provider.defaultModel).toBe("gpt-4");
  expect(await provider.models()).toEqual([]);
  expect(await azure("https://me.example", { models: [{ id: "mine" }] }).provider.models()).toEqual([{ id: "mine" }]);
  expect(user).toEqual([]);

  expect(await provider.probe?.({ signal: new AbortController().signal })).toEqual({ ok: true });
  expect(user.map((one) => [one.url, one.headers.get("api-key")])).toEqual([
    ["https://me.openai.azure.com/openai/deployments/gpt%2D4/models?api-version=2024-10-21", "key-0123456789"],
  ]);
});

test("any other address keeps its path, and its query goes with every request", async () => {
  const { provider, user } = azure("https://lab.example/v1?tenant=a%20b", { id: "lab" });
  await collect(provider, modelRequest("m"));
  await provider.models();
  expect(user.map((one) => one.url)).toEqual([
    "https://lab.example/v1/chat/completions?tenant=a+b",
    "https://lab.example/v1/models?tenant=a+b",
  ]);
  expect(user[0]?.headers.get("authorization")).toBe("Bearer key-0123456789");
});
