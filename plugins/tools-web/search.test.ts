import { definePlugin, type HttpRequestFunction } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, type ModelServerAnswer, type ModelServerRequest, startModelServer } from "../../test/fakes/model-server.ts";
import { webConfig } from "./config.ts";
import { createSearch } from "./providers.ts";

let vendor: ModelServer;
let answer: (request: ModelServerRequest) => ModelServerAnswer;
let gateway: TestGateway;
let request: HttpRequestFunction;
const key = "key-of-the-test-0001";
const borrow = definePlugin({
  id: "borrow",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    request = ctx.request;
  },
});

beforeAll(async () => {
  vendor = await startModelServer((received) => answer(received));
  const search = { provider: "searxng", baseUrl: `${vendor.origin}/sub` };
  gateway = await createTestGateway({
    plugins: ["store", "agents", "tools-web", borrow],
    config: { plugins: { entries: { "tools-web": { config: { search } } } } },
  });
});
afterAll(async () => {
  await gateway?.close();
  await vendor?.close();
});

const json = (body: unknown, status = 200): ModelServerAnswer => ({ kind: "json", status, body });
const hit = (n: number) => ({
  title: `Title <strong>${n}</strong>`,
  url: `https://found.example/${n}`,
  content: `About\n${n}`,
  description: `About ${n}`,
});
const providerOf = (search: object) => {
  const made = createSearch(webConfig.parse({ search: { baseUrl: vendor.origin, ...search } }).search, request);
  if (!made) throw new Error("no provider");
  return made;
};
const find = (search: object, query = {}) =>
  providerOf(search).find({ query: "high tide", count: 2, ...query }, AbortSignal.timeout(10_000));
const seen = () => vendor.requests.at(-1) as ModelServerRequest;

test("an agent finds pages through the provider of the config, in a frame", async () => {
  answer = () => json({ results: [hit(1), hit(2), hit(3)] });
  const { output } = await gateway.rpc<{ output: unknown }>("tools.invoke", { name: "web_search", args: { query: "high tide", count: 2 } });
  expect(seen()).toMatchObject({ method: "GET", path: "/sub/search?q=high+tide&format=json" });
  const text = JSON.stringify(output);
  expect(text).toContain("Source: Web search");
  expect(text).toContain("1. Title 1\\n   https://found.example/1\\n   About 1");
  expect(text).not.toContain("Title 3");
});

test("without a provider the tool is not there", async () => {
  const plain = await createTestGateway({ plugins: ["store", "agents", "tools-web"] });
  const catalog = JSON.stringify(await plain.rpc("tools.catalog", {}));
  await plain.close();
  expect([catalog.includes("web_fetch"), catalog.includes("web_search")]).toEqual([true, false]);
});

test("brave and tavily are asked in their own form", async () => {
  answer = () => json({ web: { results: [hit(1)] } });
  expect(await find({ provider: "brave", apiKey: key }, { freshness: "week" })).toEqual([
    { title: "Title 1", url: "https://found.example/1", snippet: "About 1" },
  ]);
  expect(seen()).toMatchObject({ path: "/res/v1/web/search?q=high+tide&count=2&freshness=pw", headers: { "x-subscription-token": key } });

  answer = () => json({ results: [hit(1)] });
  await find({ provider: "tavily", apiKey: key }, { freshness: "year" });
  expect(seen()).toMatchObject({
    method: "POST",
    path: "/search",
    headers: { authorization: `Bearer ${key}` },
    body: { query: "high tide", max_results: 2, time_range: "year" },
  });
});

test.each([
  ["searxng", 403, "search.formats needs json"],
  ["brave", 401, "brave refused its key (401)"],
  ["brave", 429, "no more searches for now"],
  ["tavily", 500, "tavily answered 500"],
  ["tavily", 302, "tavily answered 302"],
])("%s answering %i is explained", async (provider, status, message) => {
  answer = () => ({ kind: "json", status, body: { error: key }, headers: { location: "http://127.0.0.1:1/" } });
  const failed = find({ provider, apiKey: key });
  await expect(failed).rejects.toThrow(message);
  await expect(failed).rejects.not.toThrow(key);
});

test.each([[[]], [{ results: 5 }], [{ results: [null, 1, { url: "javascript:x" }, { title: "no address" }] }]])(
  "%j is no crash",
  async (body) => {
    answer = () => json(body);
    await find({ provider: "searxng" }).then(
      (found) => expect(found).toEqual([]),
      (error) => expect(String(error)).toContain("is no JSON object"),
    );
  },
);

test.each([
  [{ provider: "searxng" }, "expected the address of the SearXNG server"],
  [{ provider: "brave" }, "expected the key of brave"],
  [{ provider: "searxng", baseUrl: "http://u:p@h/" }, "without a user name"],
])("the config %j is refused", (search, message) => {
  expect(() => webConfig.parse({ search })).toThrow(message);
});
