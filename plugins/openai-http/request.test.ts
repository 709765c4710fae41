import { isSvcError } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { parseChatRequest } from "./request.ts";

const messages = [{ role: "user", content: "hi" }];
const fn = (name: string, more: object = {}) => ({ type: "function", function: { name, ...more } });

function refusal(body: unknown): string {
  try {
    parseChatRequest(body);
  } catch (error) {
    if (isSvcError(error, "v1-bad-request")) return error.message;
    throw error;
  }
  return "accepted";
}

test("10,000 messages are accepted, one more is refused with the limit before any is read", () => {
  expect(refusal({ messages: Array(10_000).fill(messages[0]) })).toBe("accepted");
  expect(refusal({ messages: Array(10_001).fill(1) })).toBe("messages: 10001 entries; at most 10000");
});

test("the smallest request is messages; null counts as absent, unknown fields are ignored", () => {
  const empty = {
    model: undefined,
    stream: false,
    includeUsage: false,
    user: undefined,
    sampling: {},
    clientTools: [],
    demand: undefined,
    isLegacy: false,
  };

  expect(parseChatRequest({ messages })).toEqual({ messages, ...empty });
  const nulls = {
    model: null,
    stream: null,
    user: null,
    temperature: null,
    tools: null,
    tool_choice: null,
    stop: null,
    n: null,
    logprobs: null,
  };
  expect(parseChatRequest({ messages, ...nulls, stream_options: null, response_format: null, metadata: { a: 1 }, functions: [] })).toEqual({
    messages,
    ...empty,
  });
});

test("every field arrives", () => {
  const request = parseChatRequest({
    model: "svc",
    messages,
    stream: true,
    stream_options: { include_usage: true },
    user: "u",
    max_tokens: 5,
    max_completion_tokens: 7,
    temperature: 0,
    top_p: 1,
    frequency_penalty: -2,
    presence_penalty: 2,
    seed: -3,
    stop: "END",
    n: 1,
    logprobs: false,
    response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: "object" }, strict: true } },
    tools: [fn("a", { description: "d", parameters: { type: "object" }, strict: true }), fn("b")],
    tool_choice: "required",
  });

  expect(request).toMatchObject({ model: "svc", stream: true, includeUsage: true, user: "u", demand: {} });
  expect(request.sampling).toEqual({
    maxTokens: 7,
    temperature: 0,
    topP: 1,
    frequencyPenalty: -2,
    presencePenalty: 2,
    seed: -3,
    stop: ["END"],
    responseFormat: { type: "json_schema", name: "x", schema: { type: "object" }, strict: true },
  });
  expect(request.clientTools).toEqual([
    { name: "a", description: "d", inputSchema: { type: "object" }, strict: true },
    { name: "b", description: "", inputSchema: { type: "object", properties: {} } },
  ]);
});

describe("the choice of tools", () => {
  const tools = [fn("a"), fn("b")];

  test("a pinned function leaves only that tool", () => {
    const { clientTools, demand } = parseChatRequest({ messages, tools, tool_choice: fn("b") });

    expect(clientTools.map((t) => t.name)).toEqual(["b"]);
    expect(demand).toEqual({ tool: "b" });
  });

  test("none leaves no client tool", () => {
    expect(parseChatRequest({ messages, tools, tool_choice: "none" })).toMatchObject({ clientTools: [], demand: undefined });
  });

  test("more than 1,000 tools are refused with the limit", () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => fn(`f${i}`));

    expect(refusal({ messages, tools: many(1_000) })).toBe("accepted");
    expect(refusal({ messages, tools: many(1_001) })).toBe("Invalid tools/tool_choice: 1001 tools; at most 1000.");
  });

  test("auto and none need no tools", () => {
    expect(refusal({ messages, tool_choice: "auto" })).toBe("accepted");
    expect(refusal({ messages, tool_choice: "none" })).toBe("accepted");
  });
});

describe("refusals", () => {
  test.each([
    [undefined, "body: expected object, received undefined"],
    [[], "body: expected object, received array"],
    [{}, "messages: expected array, received undefined"],
    [{ messages: "hi" }, "messages: expected array, received string"],
    [{ messages: [{ content: "x" }] }, "messages.0.role: expected string, received undefined"],
    [{ messages, model: 5 }, "model: expected string, received number"],
    [{ messages, user: {} }, "user: expected string, received object"],
    [{ messages, stream: "yes" }, "stream: expected boolean, received string"],
    [{ messages, stream_options: { include_usage: 1 } }, "stream_options.include_usage: expected boolean, received number"],
  ])("schema: %j", (body, message) => {
    expect(refusal(body)).toBe(message);
  });

  test.each([
    ["temperature", [-0.01, 2.01, "1", Number.NaN], "`temperature` must be between 0 and 2."],
    ["top_p", [-0.01, 1.01], "`top_p` must be between 0 and 1."],
    ["frequency_penalty", [-2.01, 2.01], "`frequency_penalty` must be between -2 and 2."],
    ["presence_penalty", [-2.01, 2.01], "`presence_penalty` must be between -2 and 2."],
    ["seed", [1.5, "1", 2 ** 53], "`seed` must be an integer."],
    ["max_tokens", [0, -1, 1.5, 2 ** 53], "`max_tokens` must be a positive integer."],
    ["max_completion_tokens", [0, "5"], "`max_completion_tokens` must be a positive integer."],
    ["n", [2, 0, "1"], "`n` must be 1."],
    ["logprobs", [true, 1], "`logprobs` is not supported."],
    ["stop", ["", [""], [1], {}], "Invalid stop: expected a string or non-empty strings."],
    ["stop", [["a", "b", "c", "d", "e"]], "Invalid stop: at most 4 strings."],
    ["response_format", [{ type: "xml" }, "text"], "Invalid response_format: type must be text, json_object or json_schema."],
    [
      "response_format",
      [{ type: "json_schema" }, { type: "json_schema", json_schema: { schema: [] } }],
      "Invalid response_format: json_schema.schema must be an object.",
    ],
  ])("%s: %j", (field, values, message) => {
    for (const value of values) expect(refusal({ messages, [field]: value })).toBe(message);
  });

  test.each([0, 2])("at its limit %s a temperature is accepted", (temperature) => {
    expect(parseChatRequest({ messages, temperature }).sampling.temperature).toBe(temperature);
  });

  test("max_tokens is checked even when max_completion_tokens wins", () => {
    expect(refusal({ messages, max_completion_tokens: 5, max_tokens: 0 })).toBe("`max_tokens` must be a positive integer.");
  });

  test.each([
    [{ tools: {} }, "tools must be an array."],
    [{ tools: [{ type: "web_search" }] }, 'tools.0.type must be "function".'],
    [{ tools: [fn("no spaces")] }, "tools.0.function.name must have 1 to 64 letters, digits, _ or -."],
    [{ tools: [fn("x".repeat(65))] }, "tools.0.function.name must have 1 to 64 letters, digits, _ or -."],
    [{ tools: [fn("a", { parameters: [] })] }, "tools.0.function.parameters must be an object."],
    [{ tools: [fn("a", { description: 1 })] }, "tools.0.function.description must be a string."],
    [{ tools: [fn("a"), fn("a")] }, "two tools have the same name."],
    [{ tool_choice: "required" }, "tool_choice=required needs tools."],
    [{ tools: [fn("a")], tool_choice: fn("b") }, 'tool_choice names "b", which is not one of the tools.'],
    [{ tools: [fn("a")], tool_choice: "any" }, "tool_choice must be auto, none, required or a function."],
  ])("tools: %j", (body, reason) => {
    expect(refusal({ messages, ...body })).toBe(`Invalid tools/tool_choice: ${reason}`);
  });

  test("a tool name of 64 characters is accepted", () => {
    expect(refusal({ messages, tools: [fn("x".repeat(64))] })).toBe("accepted");
  });
});
