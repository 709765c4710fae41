import OpenAI from "openai";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okText } from "../../test/fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../../test/fakes/openai-server.ts";

const plugins = ["store", "agents", "model-openai-compatible", "openai-http"];

let vendor: FakeOpenAi;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  vendor = await startFakeOpenAi();
  const lab = {
    baseUrl: vendor.url,
    apiKey: vendor.apiKey,
    models: ["ok", "tool", "slow-drip", "hang", "401", "context", "cut-mid-event", "length", "quote"].map((id) => ({ id })),
  };
  const agents = { list: [{ id: "main" }, { id: "work" }] };
  gateway = await createTestGateway({
    plugins,
    config: { agents, models: { providers: { lab } }, gateway: { http: { maxBodyBytes: 200_000 } } },
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.token, maxRetries: 0 });
});

afterAll(async () => {
  await gateway?.close();
  await vendor?.close();
});

const weather = {
  type: "function" as const,
  function: { name: "weather", description: "Weather.", parameters: { type: "object", properties: { query: { type: "string" } } } },
};
const ask = (content: string) => [{ role: "user" as const, content }];
const onModel = (model: string, more: Record<string, string> = {}) => ({ headers: { "x-svc-model": `lab/${model}`, ...more } });

async function post(body: unknown, init: { headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> {
  return gateway.fetch("/v1/chat/completions", { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), ...init });
}

async function history(sessionKey: string): Promise<Array<{ role: string; content: unknown; aborted?: boolean }>> {
  return (await gateway.rpc<{ messages: Array<{ role: string; content: unknown; aborted?: boolean }> }>("chat.history", { sessionKey }))
    .messages;
}

describe("models, with the official client", () => {
  test("are the agents", async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);

    expect(ids).toEqual(["svc", "svc/default", "svc/main", "svc/work"]);
  });

  test("are found one by one, with a raw or an encoded slash", async () => {
    expect(await client.models.retrieve("svc/work")).toEqual({
      id: "svc/work",
      object: "model",
      created: 0,
      owned_by: "svc",
      permission: [],
    });
    for (const path of ["svc/work", "svc%2Fwork", "svc"]) expect((await gateway.fetch(`/v1/models/${path}`)).status).toBe(200);
  });

  test("unknown ones are a NotFoundError", async () => {
    const error = await client.models.retrieve("gpt-4o").catch((e: unknown) => e);

    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({
      status: 404,
      code: "model_not_found",
      type: "invalid_request_error",
      message: "404 Model 'gpt-4o' not found.",
    });
  });

  test.each([
    ["", "Missing model id."],
    ["SVC", null],
  ])("id %j is refused", async (id, message) => {
    const response = await gateway.fetch(`/v1/models/${id}`);

    expect(response.status).toBe(message === null ? 404 : 400);
    if (message) expect(await response.json()).toEqual({ error: { message, type: "invalid_request_error", param: null, code: null } });
  });
});

describe("a chat, with the official client", () => {
  test("answers plainly", async () => {
    const answer = await client.chat.completions.create({ model: "svc/default", messages: ask("Where is the router?") });

    expect(answer).toMatchObject({
      object: "chat.completion",
      model: "svc/default",
      choices: [{ index: 0, message: { role: "assistant", content: okText, refusal: null }, finish_reason: "stop" }],
      usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19, prompt_tokens_details: { cached_tokens: 4 } },
    });
    expect(answer.id).toMatch(/^chatcmpl_[0-9a-f-]{36}$/);
  });

  test("streams: the role first, then the text, one finish, usage", async () => {
    const stream = await client.chat.completions.create({
      model: "svc",
      messages: ask("Where is the router?"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);

    expect(chunks[0]?.choices[0]).toEqual({ index: 0, delta: { role: "assistant" }, finish_reason: null });
    expect(chunks.map((c) => c.choices[0]?.delta.content ?? "").join("")).toBe(okText);
    expect(chunks.flatMap((c) => c.choices[0]?.finish_reason ?? [])).toEqual(["stop"]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 19 } });
    expect(new Set(chunks.map((c) => `${c.id} ${c.created} ${c.model}`)).size).toBe(1);
  });

  test.each([true, false])("has no frame of external text that the model repeats; streamed: %s", async (stream) => {
    const response = await post({ messages: ask("hi"), stream }, onModel("quote"));

    const body = await response.text();
    const chunks = stream ? body.split("\n\n").filter((frame) => frame.startsWith("data: {")) : [`data: ${body}`];
    const choices = chunks.map((frame) => JSON.parse(frame.slice(6)).choices[0]);
    expect(choices.map((choice) => (choice.delta ?? choice.message).content ?? "").join("")).toBe("It says: Order 7");
  });

  test("has the headers of an event stream and ends with [DONE]", async () => {
    const response = await post({ messages: ask("hi"), stream: true });

    expect(Object.fromEntries(["content-type", "cache-control", "x-accel-buffering"].map((n) => [n, response.headers.get(n)]))).toEqual({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    expect((await response.text()).endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("passes system texts, sampling and history on", async () => {
    const before = vendor.requests.length;
    await client.chat.completions.create({
      model: "svc",
      messages: [{ role: "system", content: "Answer in rhymes." }, ...ask("one"), { role: "assistant", content: "fun" }, ...ask("two")],
      temperature: 0.3,
      max_completion_tokens: 50,
    });

    const body = vendor.requests[before]?.body as { messages: Array<{ role: string; content: string }> } & Record<string, unknown>;
    expect(body).toMatchObject({ temperature: 0.3, max_tokens: 50 });
    expect(body.messages[0]?.content).toContain("Answer in rhymes.");
    expect(body.messages.slice(1).map((m) => [m.role, m.content])).toEqual([
      ["user", "one"],
      ["assistant", "fun"],
      ["user", "two"],
    ]);
  });

  test("tells a spent budget", async () => {
    const answer = await client.chat.completions.create({ model: "svc", messages: ask("hi") }, onModel("length"));

    expect(answer.choices[0]).toMatchObject({ message: { content: "The rou" }, finish_reason: "length" });
  });

  test("hands images to the model", async () => {
    const before = vendor.requests.length;
    const url = `data:image/png;base64,${Buffer.from("89504e470d0a1a0a0000000d", "hex").toString("base64")}`;
    await client.chat.completions.create({
      model: "svc",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });

    const messages = (vendor.requests[before]?.body as { messages: unknown[] } | undefined)?.messages;
    expect(messages?.at(-1)).toEqual({
      role: "user",
      content: [
        { type: "text", text: "User sent image(s) with no text." },
        { type: "image_url", image_url: { url } },
      ],
    });
  });
});

describe("sessions", () => {
  test("of a user continue, and given turns are not stored twice", async () => {
    const first = { model: "svc", user: "ann", messages: ask("first") };
    await client.chat.completions.create(first);
    await client.chat.completions.create({
      ...first,
      messages: [...ask("first"), { role: "assistant", content: okText }, ...ask("second")],
    });

    const rows = await history("agent:main:openai-user:ann");
    expect(rows.map((r) => r.role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("of a user hold each turn once, also with recordings and files that are notes when they are sent again", async () => {
    const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
    const zip = { type: "file", file: { filename: "a.zip", file_data: "data:application/zip;base64,UEsD" } };
    const first = [{ type: "text", text: "first" }, audio, zip];
    await post({ user: "bea", messages: ask("first") });
    const again = await post({
      user: "bea",
      messages: [{ role: "user", content: first }, { role: "assistant", content: okText }, ...ask("second")],
    });

    expect(again.status).toBe(200);
    expect((await history("agent:main:openai-user:bea")).map((r) => r.role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("of the header are shared with every other door", async () => {
    await client.chat.completions.create({ model: "svc/work", messages: ask("hi") }, { headers: { "x-svc-session-key": "door" } });

    expect((await history("agent:work:door")).map((r) => r.role)).toEqual(["user", "assistant"]);
  });
});

describe("tools of the caller", () => {
  test.each([false, true])("are called and answered (stream: %s)", async (stream) => {
    const options = onModel("tool");
    const request = { model: "svc", messages: ask("Weather in Bern?"), tools: [weather] };
    const first = stream
      ? await client.chat.completions.stream(request, options).finalChatCompletion()
      : await client.chat.completions.create(request, options);

    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    expect(message?.tool_calls).toMatchObject([
      { id: "call_1", type: "function", function: { name: "weather", arguments: '{"query":"Weather in Bern?"}' } },
    ]);

    const next = await client.chat.completions.create(
      {
        ...request,
        messages: [
          ...request.messages,
          { role: "assistant", content: null, tool_calls: message?.tool_calls ?? [] },
          { role: "tool", tool_call_id: "call_1", content: "sunny" },
        ],
      },
      options,
    );
    expect(next.choices[0]?.message.content).toBe(okText);

    // The request that brings the result asks nothing itself; its session has the title of what was asked.
    const { sessions } = await gateway.rpc<{ sessions: Array<{ derivedTitle?: string }> }>("sessions.list", {
      ...{ includeDerivedTitles: true, limit: 2 },
    });
    expect(sessions.map(({ derivedTitle }) => derivedTitle)).toEqual(["Weather in Bern?", "Weather in Bern?"]);
  });

  test("that must be called and are not are a 502", async () => {
    const request = { model: "svc", messages: ask("hi"), tools: [weather], tool_choice: "required" as const };

    const error = await client.chat.completions.create(request, onModel("ok")).catch((e: unknown) => e);
    expect(error).toMatchObject({ status: 502, message: "502 tool_choice=required was not satisfied by the agent response" });

    const frames = await (await post({ ...request, stream: true }, onModel("ok"))).text();
    expect(frames).not.toContain("router");
    expect(frames).toContain("tool_choice=required was not satisfied");
  });

  test("that must be called are forced at the vendor", async () => {
    const before = vendor.requests.length;
    const answer = await client.chat.completions.create(
      { model: "svc", messages: ask("hi"), tools: [weather], tool_choice: { type: "function", function: { name: "weather" } } },
      onModel("tool"),
    );

    expect(answer.choices[0]?.finish_reason).toBe("tool_calls");
    expect(vendor.requests[before]?.body).toMatchObject({ tool_choice: { type: "function", function: { name: "weather" } } });
  });

  test("a result without its call is refused", async () => {
    const response = await post({ messages: [{ role: "tool", tool_call_id: "c9", content: "x" }] });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { message: "messages.0.tool_call_id: no tool call with this id comes before it" },
    });
  });
});

describe("refusals", () => {
  test("a wrong key is an AuthenticationError", async () => {
    const stranger = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "wrong", maxRetries: 0 });
    const error = await stranger.models.list().catch((e: unknown) => e);

    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: "invalid_api_key", type: "unauthorized", message: "401 Unauthorized" });
  });

  test("a bad request is a BadRequestError", async () => {
    const error = await client.chat.completions.create({ model: "gpt-4o", messages: ask("hi") }).catch((e: unknown) => e);

    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, message: "400 Invalid `model`. Use `svc` or `svc/<agentId>`." });
  });

  test.each([
    ["not JSON", "{", 400, /JSON/],
    ["a blank body", "", 400, /^messages: expected array/],
    ["an unknown agent", { model: "svc/nobody", messages: [{ role: "user", content: "x" }] }, 400, /^Unknown agent 'nobody'\.$/],
    ["no user message", { messages: [] }, 400, /^Missing user message in `messages`\.$/],
    ["a body above the cap", { messages: [{ role: "user", content: "x".repeat(200_001) }] }, 413, /./],
  ])("%s", async (_name, body, status, message) => {
    const response = await post(body);
    const { error } = (await response.json()) as { error: { message: string; type: string } };

    expect(response.status).toBe(status);
    expect(error.type).toBe("invalid_request_error");
    expect(error.message).toMatch(message);
  });

  test.each([
    ["lab/no-such-model", 404, "model_not_found"],
    ["a b", 400, null],
  ])("backend model %j is %i", async (model, status, code) => {
    const response = await post({ messages: ask("hi") }, { headers: { "x-svc-model": model } });

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  test.each([
    ["401", 401, "authentication_error"],
    ["context", 413, "invalid_request_error"],
  ])("vendor fault %s is %i", async (model, status, type) => {
    const response = await post({ messages: ask("hi") }, onModel(model));
    const { error } = (await response.json()) as { error: { message: string; type: string } };

    expect([response.status, error.type]).toEqual([status, type]);
    expect(error.message).not.toContain(vendor.url);
  });

  test("a vendor that breaks off in mid-answer is an error frame, then [DONE]", async () => {
    const frames = (await (await post({ messages: ask("hi"), stream: true }, onModel("cut-mid-event"))).text()).trim().split("\n\n");

    expect(frames.at(-1)).toBe("data: [DONE]");
    expect(frames.at(-2)).toBe('data: {"error":{"message":"upstream provider error","type":"api_error","param":null,"code":null}}');
    expect(frames.join()).not.toContain('finish_reason":"');
  });

  test("wrong methods and unknown paths", async () => {
    const wrong = await gateway.fetch("/v1/chat/completions");
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await wrong.json()).toMatchObject({ error: { message: "Method Not Allowed: use POST", type: "invalid_request_error" } });
    expect((await gateway.fetch("/v1/models", { method: "POST" })).headers.get("allow")).toBe("GET");

    for (const path of ["/v1", "/v1/nothing", "/v1/models2", "/v1/chat"]) {
      const unknown = await fetch(`${gateway.url}${path}`, { headers: { authorization: "Bearer wrong" } });
      expect([unknown.status, unknown.headers.get("content-type")]).toEqual([404, "application/json; charset=utf-8"]);
      expect(await unknown.json()).toMatchObject({ error: { type: "invalid_request_error", param: null, code: null } });
    }
  });
});

describe("a repeat under the same key", () => {
  test.each([false, true])("gets the same answer, and nothing runs again (stream: %s)", async (stream) => {
    const init = { headers: { "Idempotency-Key": `chat-${stream}` } };
    const say = async (text: string) => {
      const response = await post({ model: "svc", messages: ask(text), stream }, init);
      return [response.headers.get("idempotent-replay"), await response.text()] as const;
    };
    const asked = () => vendor.requests.filter(({ method }) => method === "POST").length;
    const [first, said] = await say("hi");
    const before = asked();
    const [again, saidAgain] = await say("hi");

    expect([first, again, asked()]).toEqual([null, "true", before]);
    const id = /chatcmpl_[0-9a-f-]{36}/;
    expect(id.exec(saidAgain)?.[0]).toBe(id.exec(said)?.[0]);
    if (!stream) expect(saidAgain).toBe(said);
    expect((await say("other"))[0]).toBeNull();
  });

  test("whose client went away is told not to try again", async () => {
    const abort = new AbortController();
    const headers = { "Idempotency-Key": "left", "x-svc-model": "lab/hang" };
    const arrived = vendor.nextRequest();
    const going = post({ messages: ask("hi") }, { headers, signal: abort.signal }).catch((error: unknown) => error);
    const sent = await arrived;
    abort.abort();
    await going;
    await sent.ended;
    const again = await post({ messages: ask("hi") }, { headers });

    expect([again.status, again.headers.get("x-should-retry")]).toEqual([500, "false"]);
    expect(await again.json()).toMatchObject({ error: { code: "interrupted", message: expect.stringContaining("with a new key") } });
  });
});

describe("a client that goes away", () => {
  test.each([
    ["hang", false],
    ["hang", true],
    ["slow-drip", true],
  ])("stops the run and the vendor's request (%s, stream: %s)", async (model, stream) => {
    const abort = new AbortController();
    const key = `gone-${model}-${stream}`;
    const arrived = vendor.nextRequest();
    const going = client.chat.completions
      .create({ model: "svc", messages: ask("hi"), stream }, { ...onModel(model, { "x-svc-session-key": key }), signal: abort.signal })
      .then(async (answer) => {
        if ("toReadableStream" in answer) for await (const chunk of answer) if (chunk.choices[0]?.delta.content) abort.abort();
      })
      .catch((e: unknown) => e);
    const sent = await arrived;
    if (model === "hang") abort.abort();

    expect(await sent.ended).toEqual({ aborted: true });
    await going;
    await eventually(async () => expect((await history(`agent:main:${key}`))[0]?.role).toBe("user"));
    if (model !== "slow-drip") return;
    await eventually(async () => expect((await history(`agent:main:${key}`)).at(-1)).toMatchObject({ role: "assistant", aborted: true }));
  });
});

test("a disabled endpoint is not there, also without a key", async () => {
  const off = await createTestGateway({
    plugins,
    config: {
      gateway: {
        http: {
          endpoints: {
            models: { enabled: false },
            chatCompletions: { enabled: false },
            responses: { enabled: false },
            embeddings: { enabled: false },
          },
        },
      },
    },
  });
  try {
    for (const path of ["/v1/models", "/v1/models/svc", "/v1/chat/completions", "/v1/responses", "/v1/embeddings"]) {
      const response = await fetch(`${off.url}${path}`, { method: path.startsWith("/v1/models") ? "GET" : "POST" });
      const { error } = (await response.json()) as { error: { message: string } };
      expect([response.status, error.message]).toEqual([404, "Not Found: there is no such endpoint, or it is turned off"]);
    }
    const { paths } = (await (await off.fetch("/openapi.json")).json()) as { paths: object };
    expect(Object.keys(paths)).toEqual(["/tools/invoke", "/openapi.json", "/healthz", "/health", "/readyz", "/ready"]);
  } finally {
    await off.close();
  }
});
