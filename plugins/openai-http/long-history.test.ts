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
  const calling = (made: object[]) => ({ role: "assistant", content: null, tool_calls: made });

  const reply = await post([{ role: "user", content: "go" }, calling(calls.slice(0, 500)), calling(calls.slice(500)), ...results]);

  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { message: "messages: 1001 tool results at the end; at most 1000." } });
});

test("one message holds 1,000 parts and calls, of more it says so", async () => {
  const parts = (count: number) => Array.from({ length: count }, () => ({ type: "text", text: "x" }));
  const calls = Array.from({ length: 1_001 }, (_, i) => ({ id: `c${i}`, type: "function", function: { name: "find", arguments: "{}" } }));
  const end = { role: "user", content: "hi" };

  expect((await post([{ role: "user", content: parts(1_000) }])).status).toBe(200);
  for (const [messages, message] of [
    [[{ role: "user", content: parts(1_001) }], "messages.0.content: 1001 entries; at most 1000"],
    [[end, { role: "assistant", tool_calls: calls }, end], "messages.1.tool_calls: 1001 entries; at most 1000"],
  ] as const) {
    const reply = await post([...messages]);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { message } });
  }
  const input = [{ type: "message", role: "user", content: parts(1_001).map(({ text }) => ({ type: "input_text", text })) }];
  const reply = await gateway.fetch("/v1/responses", { method: "POST", body: JSON.stringify({ model: "svc", input }) });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { message: "input.0.content: 1001 entries; at most 1000" } });
});

test("a history that begins with an answer reaches the vendor as it was sent", async () => {
  expect(
    (
      await post([
        { role: "assistant", content: "Welcome." },
        { role: "user", content: "Hi." },
      ])
    ).status,
  ).toBe(200);
  const body = vendor.requests.at(-1)?.body as { messages: Array<{ role: string }> } | undefined;
  expect(body?.messages.slice(-2).map(({ role }) => role)).toEqual(["assistant", "user"]);
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
