import { type ContributionView, definePlugin, type EmbeddingAdapter, type EmbeddingContext, type SvcConfigInput } from "svc/sdk";
import { createTestGateway, embeddingContext, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { createFakeOpenAiEmbeddings, type FakeOpenAiEmbeddings } from "../fakes/embedding-openai.ts";

const ended: Array<() => Promise<unknown> | undefined> = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

interface Stage {
  gateway: TestGateway;
  adapters: ContributionView<EmbeddingAdapter>;
  /** Embeds one text with the adapter as the config describes it. */
  embed(id: string, context?: Partial<EmbeddingContext>): Promise<Float32Array>;
}

async function start(options: { config?: SvcConfigInput; env?: Record<string, string> }): Promise<Stage> {
  let adapters: ContributionView<EmbeddingAdapter> | undefined;
  let snapshot: EmbeddingContext["config"] | undefined;
  const reader = definePlugin({
    id: "reader",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(ctx) {
      adapters = ctx.contributions("embeddingAdapter");
      snapshot = ctx.snapshot();
    },
  });
  const plugins = ["embed-openai", "embed-mistral", "embed-voyage", "embed-ollama", reader];
  const gateway = await createTestGateway({ plugins, ...options });
  ended.push(() => gateway.close());
  const view = adapters as unknown as ContributionView<EmbeddingAdapter>;
  return {
    gateway,
    adapters: view,
    async embed(id, context) {
      await view.ready(id);
      const opened = await view.get(id)?.value.create(embeddingContext({ config: snapshot as EmbeddingContext["config"], ...context }));
      const vector = await opened?.provider.embedQuery("a text");
      await opened?.provider.close?.();
      return vector as Float32Array;
    },
  };
}

async function vendor(): Promise<FakeOpenAiEmbeddings> {
  const server = await createFakeOpenAiEmbeddings();
  ended.push(() => server.close());
  return server;
}

test("an adapter's plugin is loaded by the first use of the adapter", async () => {
  const { adapters } = await start({});
  expect([...adapters].map((one) => one.id)).toEqual([]);

  await adapters.ready("voyage");
  expect([...adapters].map((one) => one.id)).toEqual(["voyage"]);

  await adapters.ready();
  const priorities = [...adapters].map((one) => [one.id, one.value.autoSelectPriority]);
  expect(Object.fromEntries(priorities)).toEqual({ openai: 20, voyage: 40, mistral: 50, ollama: undefined });
});

test("the key and the headers of the vendor's entry reach the vendor, and no log shows them", async () => {
  const server = await vendor();
  const entry = { baseUrl: server.url, apiKey: server.apiKey, headers: { "X-Team": "north", "X-Api-Key": "header-key-0123" } };
  const { embed, gateway } = await start({ config: { models: { providers: { openai: entry } } } });

  expect(await embed("openai")).toHaveLength(1_536);

  expect(server.requests[0]?.headers).toMatchObject({
    authorization: `Bearer ${server.apiKey}`,
    "x-team": "north",
    "x-api-key": "header-key-0123",
  });
  expect(JSON.stringify(gateway.logs)).not.toContain(server.apiKey);
});

test("a key of the environment goes to the address of its vendor's entry, the gateway's as the plugin's own, and to no other server", async () => {
  const [server, other] = [await vendor(), await vendor()];
  const models = { providers: { openai: { baseUrl: server.url } } };
  const fromGateway = await start({ config: { models }, env: { OPENAI_API_KEY: server.apiKey } });
  expect(await fromGateway.embed("openai")).toHaveLength(1_536);
  await expect(fromGateway.embed("openai", { remote: { baseUrl: other.url } })).rejects.toMatchObject({ fault: "auth" });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${server.apiKey}`]);
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);

  const own = { "embed-openai": { env: { OPENAI_API_KEY: server.apiKey } } };
  const fromPlugin = await start({ config: { models, plugins: { entries: own } } });
  expect(await fromPlugin.embed("openai")).toHaveLength(1_536);
});

test("a key that is a variable without a value is a fault that says so, and no other key takes its place", async () => {
  const server = await vendor();
  const models = { providers: { openai: { baseUrl: server.url, apiKey: { source: "env", provider: "default", id: "LOST_KEY" } } } };
  const { embed } = await start({ config: { models } as SvcConfigInput, env: { OPENAI_API_KEY: server.apiKey } });

  await expect(embed("openai")).rejects.toMatchObject({ fault: "auth", message: expect.stringContaining("LOST_KEY") });
  expect(server.requests).toEqual([]);
});

test("the types of text that the config names reach a server that wants them", async () => {
  const server = await createFakeOpenAiEmbeddings({ inputTypes: ["query", "passage"], dims: 8 });
  ended.push(() => server.close());
  const remote = { baseUrl: server.url, apiKey: server.apiKey };
  const memorySearch = { provider: "openai", model: "e5", inputType: "query", documentInputType: "passage", remote };
  const gateway = await createTestGateway({
    plugins: ["memory-core", "embed-openai"],
    workspace: { "MEMORY.md": "The router stands in the hall.\n" },
    config: { agents: { defaults: { memorySearch } } },
  });
  ended.push(() => gateway.close());
  const client = await gateway.client();
  await client.request("memory.index", { force: true });

  await eventually(async () => {
    const { searchMode } = await gateway.rpc<{ searchMode: string }>("memory.search", { query: "router" });
    return searchMode === "hybrid";
  });

  const asked = server.requests.map(({ body }) => body as { input: string[]; input_type: string });
  expect(asked.find(({ input }) => input[0] === "router")?.input_type).toBe("query");
  expect(asked.find(({ input }) => input[0]?.includes("hall"))?.input_type).toBe("passage");
});

test("calls end with the plugin", async () => {
  const server = await vendor();
  server.script("hang");
  const { embed, gateway } = await start({});
  const call = expect(embed("openai", { remote: { baseUrl: server.url, apiKey: server.apiKey } })).rejects.toMatchObject({
    fault: "network",
  });
  const request = await server.request(0);
  await gateway.close();
  await call;
  expect(await request.ended).toEqual({ aborted: true });
});
