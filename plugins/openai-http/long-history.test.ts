import type { SvcConfigInput } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { okText } from "../../test/fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../../test/fakes/openai-server.ts";

let vendor: FakeOpenAi;
let gateway: TestGateway;
let config: SvcConfigInput;

beforeAll(async () => {
  vendor = await startFakeOpenAi();
  const lab = { baseUrl: vendor.url, apiKey: vendor.apiKey, models: [{ id: "ok" }] };
  config = { models: { providers: { lab } } };
  gateway = await createTestGateway({ plugins: ["store", "agents", "model-openai-compatible", "openai-http"], config });
});

afterAll(async () => {
  await gateway?.close();
  await vendor?.close();
});

const post = (messages: unknown[]) => gateway.fetch("/v1/chat/completions", { method: "POST", body: JSON.stringify({ messages }) });

test("a conversation of 10,000 messages is answered, one of more is refused with the limit", async () => {
  const turns = Array.from({ length: 5_000 }, (_, i) => [
    { role: "user", content: `question ${i}` },
    { role: "assistant", content: `answer ${i}` },
  ]);

  const reply = await post([...turns.flat().slice(1), { role: "user", content: "and now?" }]);

  expect(reply.status).toBe(200);
  expect(await reply.json()).toMatchObject({ choices: [{ message: { content: okText } }] });
  const refused = await post([...turns.flat(), { role: "user", content: "and now?" }]);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { message: "messages: 10001 entries; at most 10000" } });
});

test("more than 500 pictures in earlier turns are refused with the number", async () => {
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const ask = (count: number) =>
    post([
      { role: "user", content: Array.from({ length: count }, () => picture) },
      { role: "user", content: "hi" },
    ]);

  expect((await ask(500)).status).toBe(200);
  expect(await (await ask(501)).json()).toMatchObject({ error: { message: "messages: 501 images in earlier turns; at most 500." } });
});

test("more tool results at the end than one turn can hold are refused with the number", async () => {
  const calls = Array.from({ length: 1_001 }, (_, i) => ({ id: `c${i}`, type: "function", function: { name: "find", arguments: "{}" } }));
  const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "x" }));

  const reply = await post([{ role: "user", content: "go" }, { role: "assistant", content: null, tool_calls: calls }, ...results]);

  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { message: "messages: 1001 tool results at the end; at most 1000." } });
});

test("a response with a long history is continued after a change of the config of these routes", async () => {
  const ask = async (body: object) => {
    const answer = await gateway.fetch("/v1/responses", { method: "POST", body: JSON.stringify({ model: "svc", ...body }) });
    return { code: answer.status, id: ((await answer.json()) as { id: string }).id };
  };
  const item = (content: string) => ({ type: "message", role: "user", content });
  const { id } = await ask({ input: [item("x".repeat(9_000)), item("one")] });

  await gateway.reload({ ...config, gateway: { http: { maxBodyBytes: 10_000_000 } } });

  expect((await ask({ input: "two", previous_response_id: id })).code).toBe(200);
});
