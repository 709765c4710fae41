import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { okText } from "../../../test/fakes/openai-scripts.ts";
import { type ResponseReply, responseSchema } from "../../../test/fixtures/responses-schemas.ts";
import { onModel, responsesStage, weather } from "../../../test/fixtures/responses-stage.ts";

const { client, post, ask, refusal, events, lastBody, told, system } = responsesStage();

describe("the response object", () => {
  test("has every key, and the defaults of the API", async () => {
    const before = Math.floor(Date.now() / 1000);
    const reply = await ask({ model: "svc/default", input: "Where is the router?" });

    expect(reply).toEqual({
      id: expect.stringMatching(/^resp_[0-9a-f-]{36}$/),
      object: "response",
      created_at: expect.any(Number),
      completed_at: expect.any(Number),
      status: "completed",
      incomplete_details: null,
      model: "svc/default",
      previous_response_id: null,
      instructions: null,
      output: [
        {
          type: "message",
          id: expect.stringMatching(/^msg_[0-9a-f-]{36}$/),
          role: "assistant",
          status: "completed",
          phase: "final_answer",
          content: [{ type: "output_text", text: okText, annotations: [], logprobs: [] }],
        },
      ],
      error: null,
      tools: [],
      tool_choice: "auto",
      truncation: "disabled",
      parallel_tool_calls: true,
      text: { format: { type: "text" } },
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      temperature: 1,
      reasoning: { effort: null, summary: null },
      usage: {
        input_tokens: 12,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 19,
      },
      max_output_tokens: null,
      max_tool_calls: null,
      store: false,
      background: false,
      service_tier: "default",
      metadata: {},
      safety_identifier: null,
      prompt_cache_key: null,
      user: null,
    });
    expect(reply.created_at).toBeGreaterThanOrEqual(before);
    expect(reply.completed_at).toBeGreaterThanOrEqual(reply.created_at);
  });

  test("echoes what was sent, with every key of each tool", async () => {
    const sent = {
      instructions: "Be brief.",
      tools: [{ type: "function", name: "bare" }, weather],
      tool_choice: { type: "allowed_tools", tools: [{ type: "function", name: "bare" }] },
      truncation: "auto",
      parallel_tool_calls: false,
      top_p: 0.5,
      presence_penalty: -1,
      frequency_penalty: 1.5,
      top_logprobs: 3,
      temperature: 0.2,
      reasoning: { effort: "high", summary: "auto" },
      max_output_tokens: 50,
      max_tool_calls: 4,
      store: true,
      service_tier: "flex",
      metadata: { a: "b" },
      safety_identifier: "s1",
      prompt_cache_key: "p1",
      user: "echo",
      include: ["reasoning.encrypted_content"],
      no_such_field: 1,
    };
    const { include: _, no_such_field: __, ...echoed } = sent;

    expect(await ask({ input: "hi", ...sent }, onModel("ok"))).toMatchObject({
      ...echoed,
      tools: [{ type: "function", name: "bare", description: null, parameters: null, strict: null }, weather],
      tool_choice: { ...sent.tool_choice, mode: "auto" },
    });
    expect(lastBody()).toMatchObject({
      temperature: 0.2,
      top_p: 0.5,
      presence_penalty: -1,
      frequency_penalty: 1.5,
      max_tokens: 50,
      reasoning_effort: "high",
      tools: [{ function: { name: "bare" } }],
    });
    expect(system()).toContain("Be brief.");
  });

  test("has the structure that was asked for, and the vendor hears of it", async () => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
    const format = { type: "json_schema", name: "thing", schema, strict: true };

    expect((await ask({ input: "hi", text: { format, verbosity: "low" } })).text).toEqual({
      format: { ...format, description: null },
      verbosity: "low",
    });
    expect(lastBody().response_format).toMatchObject({ type: "json_schema", json_schema: { name: "thing", schema, strict: true } });
    await ask({ input: "hi", text: { format: { type: "json_object" } } });
    expect(lastBody().response_format).toEqual({ type: "json_object" });
  });

  test("of a spent budget is incomplete", async () => {
    const reply = await ask({ input: "hi" }, onModel("length"));

    expect(reply).toMatchObject({ status: "incomplete", completed_at: null, incomplete_details: { reason: "max_output_tokens" } });
    expect(reply.output).toMatchObject([{ status: "incomplete", content: [{ text: "The rou" }] }]);
  });

  test("of a text that the vendor withholds is incomplete, too", async () => {
    const reply = await ask({ input: "hi" }, onModel("filtered"));

    expect(reply).toMatchObject({ status: "incomplete", incomplete_details: { reason: "content_filter" } });
  });

  test("has a call that is no JSON as the model wrote it", async () => {
    const reply = await ask({ input: "hi", tools: [weather] }, onModel("tool-malformed"));

    expect(reply.output.at(-1)).toMatchObject({ type: "function_call", status: "incomplete" });
  });

  test("has no frame of external text that the model repeats", async () => {
    expect((await ask({ input: "hi" }, onModel("quote"))).output).toMatchObject([{ content: [{ text: "It says: Order 7" }] }]);
  });
});

describe("events of a stream", () => {
  test("of a text come in order, and say the same thing", async () => {
    const list = await events({ input: "hi" });

    const deltas = list.filter(({ type }) => type === "response.output_text.delta");
    expect(list.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      ...deltas.map(({ type }) => type),
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(deltas.length).toBeGreaterThan(0);
    expect(list[0]?.response).toMatchObject({ status: "in_progress", output: [], usage: null, completed_at: null });
    expect(list[2]).toMatchObject({ output_index: 0, item: { type: "message", status: "in_progress", content: [] } });
    expect(list[3]).toMatchObject({ content_index: 0, part: { type: "output_text", text: "" } });
    expect(deltas.map(({ delta }) => delta).join("")).toBe(okText);
    const final = responseSchema.parse(list.at(-1)?.response);
    const [item] = final.output;
    expect(list.at(-2)).toMatchObject({ item });
    expect(list.at(-4)).toMatchObject({ text: okText, item_id: item?.id, output_index: 0, content_index: 0 });
    expect(item).toMatchObject({ status: "completed", content: [{ text: okText }] });
    expect(final.usage?.total_tokens).toBe(19);
    expect(new Set(list.flatMap(({ response }) => (response as ResponseReply | undefined)?.id ?? [])).size).toBe(1);
  });

  test("of a call without text begin with the call, at place 0", async () => {
    const list = await events({ input: "Bern?", tools: [weather] }, onModel("tool"));

    const deltas = list.filter(({ type }) => type === "response.function_call_arguments.delta");
    expect(list.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      ...deltas.map(({ type }) => type),
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(list[2]).toMatchObject({
      output_index: 0,
      item: { type: "function_call", name: "weather", arguments: "", status: "in_progress" },
    });
    expect(deltas.map(({ delta }) => delta).join("")).toBe('{"query":"Bern?"}');
    expect(list.at(-3)).toMatchObject({ name: "weather", arguments: '{"query":"Bern?"}', output_index: 0 });
    expect(responseSchema.parse(list.at(-1)?.response).output).toMatchObject([
      { type: "function_call", id: list.at(-3)?.item_id, call_id: "call_1", arguments: '{"query":"Bern?"}', status: "completed" },
    ]);
  });

  test("of text and a call that is cut off are streamed as they are written; the call is incomplete and keeps its text", async () => {
    const list = await events({ input: "hi", tools: [weather], tool_choice: "required" }, onModel("tool-cut"));

    const final = responseSchema.parse(list.at(-1)?.response);
    expect(list.at(-1)?.type).toBe("response.incomplete");
    expect(final.output).toMatchObject([
      { type: "message", phase: "commentary" },
      { type: "function_call", status: "incomplete", arguments: expect.not.stringMatching(/\}$/) },
    ]);
    const deltas = list.filter(({ type }) => type === "response.function_call_arguments.delta");
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ delta }) => delta).join("")).toBe(final.output[1]?.type === "function_call" ? final.output[1].arguments : "");
    expect(new Set(deltas.map(({ output_index }) => output_index))).toEqual(new Set([1]));
  });

  test("of a spent budget end with response.incomplete", async () => {
    const list = await events({ input: "hi" }, onModel("length"));

    expect(list.slice(-2)).toMatchObject([
      { type: "response.output_item.done", item: { status: "incomplete" } },
      { type: "response.incomplete", response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } } },
    ]);
  });

  test("of a vendor that breaks off end with an error and response.failed; open items stay open", async () => {
    const list = await events({ input: "hi" }, onModel("cut-mid-event"));

    expect(list.map(({ type }) => type)).not.toContain("response.output_item.done");
    expect(list.slice(-2)).toMatchObject([
      { type: "error", error: { type: "api_error", code: null, message: "upstream provider error", param: null } },
      {
        type: "response.failed",
        response: { status: "failed", output: [], error: { code: "server_error", message: "upstream provider error" } },
      },
    ]);
  });

  test("with a demand that is not met show no text", async () => {
    const list = await events({ input: "hi", tools: [weather], tool_choice: "required" }, onModel("ok"));

    expect(list.map(({ type }) => type)).toEqual(["response.created", "response.in_progress", "error", "response.failed"]);
  });
});

describe("the official client", () => {
  test("creates, and reads the text", async () => {
    const reply = await client().responses.create({ model: "svc", input: "hi" });

    expect(reply.output_text).toBe(okText);
  });

  test("streams, and ends with the response", async () => {
    const stream = client().responses.stream({ model: "svc", input: "hi" });
    let text = "";
    stream.on("response.output_text.delta", ({ delta }) => {
      text += delta;
    });

    expect((await stream.finalResponse()).output_text).toBe(okText);
    expect(text).toBe(okText);
  });

  test("parses a structure", async () => {
    const format = zodTextFormat(z.object({ query: z.string() }), "thing");
    const reply = await client().responses.parse({ model: "svc", input: "hi", text: { format } }, onModel("json"));

    expect(reply.output_parsed).toEqual({ query: "hi" });
  });

  test.each([false, true])("calls a tool, and answers it by previous_response_id (stream: %s)", async (stream) => {
    const tools = [zodResponsesFunction({ name: "weather", parameters: z.object({ query: z.string() }) })];
    const request = { model: "svc", input: "Weather in Bern?", tools };
    const first = stream
      ? await client().responses.stream(request, onModel("tool")).finalResponse()
      : await client().responses.parse(request, onModel("tool"));
    const [call] = first.output;
    if (call?.type !== "function_call") throw new Error("expected a call");
    expect([call.name, call.parsed_arguments]).toEqual(["weather", { query: "Weather in Bern?" }]);

    const output = { type: "function_call_output" as const, call_id: call.call_id, output: "" };
    const next = await client().responses.create({ model: "svc", input: [output], previous_response_id: first.id, tools }, onModel("tool"));
    expect(next).toMatchObject({ output_text: okText, previous_response_id: first.id });
    expect(told().slice(1)).toMatchObject([
      ["user", "Weather in Bern?"],
      ["assistant", null],
      ["tool", ""],
    ]);
  });

  test("maps errors to its classes", async () => {
    const caught = async (options: { apiKey?: string; model?: string; body?: object }) => {
      return client(options.apiKey)
        .responses.create({ model: "svc", input: "hi", ...options.body }, onModel(options.model ?? "ok"))
        .catch((error: unknown) => error);
    };

    expect(await caught({ apiKey: "wrong" })).toMatchObject({ status: 401, code: "invalid_api_key", message: "401 Unauthorized" });
    expect(await caught({ body: { model: "gpt-5" } })).toBeInstanceOf(OpenAI.BadRequestError);
    expect(await caught({ model: "429" })).toBeInstanceOf(OpenAI.RateLimitError);
    expect(await caught({ model: "401" })).toMatchObject({ status: 401, type: "authentication_error" });
    expect(await caught({ model: "context" })).toMatchObject({ status: 413, type: "invalid_request_error" });
    expect(await caught({ body: { previous_response_id: "resp_nothing" } })).toMatchObject({
      status: 404,
      code: "previous_response_not_found",
    });
    const inStream = await client()
      .responses.create({ model: "svc", input: "hi", stream: true }, onModel("cut-mid-event"))
      .then(async (stream) => {
        for await (const _ of stream);
      })
      .catch((error: unknown) => error);
    expect(inStream).toMatchObject({ type: "api_error", message: "upstream provider error" });
  });
});

describe("a failed run", () => {
  test("answers with the status of its fault and the response object", async () => {
    const response = await post({ input: "hi" }, onModel("401"));

    expect(response.status).toBe(401);
    expect(responseSchema.parse(await response.json())).toMatchObject({
      status: "failed",
      output: [],
      error: { type: "authentication_error", message: "the upstream provider rejected its credential" },
    });
  });

  test("of a demand that is not met is a 502", async () => {
    expect(await refusal({ input: "hi", tools: [weather], tool_choice: "required" }, onModel("ok"))).toEqual([
      502,
      "tool_choice=required was not satisfied by the agent response",
    ]);
    const pinned = { type: "function", name: "weather" };
    expect((await refusal({ input: "hi", tools: [weather], tool_choice: pinned }, onModel("ok")))[1]).toContain("function:weather");
    expect((await ask({ input: "hi", tools: [weather], tool_choice: pinned }, onModel("tool"))).output).toMatchObject([
      { name: "weather" },
    ]);
    expect(lastBody().tool_choice).toEqual({ type: "function", function: { name: "weather" } });
  });
});
