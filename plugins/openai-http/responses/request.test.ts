import { describe, expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import { toResponsesTurn } from "./input.ts";
import { parseResponsesRequest } from "./request.ts";

const one = "x".repeat(65);
const user = (content: unknown) => ({ type: "message", role: "user", content });
const weather = { type: "function", name: "weather" };
const read = (body: object) => {
  const request = parseResponsesRequest({ model: "svc", ...body });
  return { ...request, turn: toResponsesTurn(request.input) };
};

describe("a request is refused for", () => {
  test.each<[string, object, string]>([
    ["no model", { model: undefined, input: "x" }, "model: expected string, received undefined"],
    ["a blank body", { model: undefined }, "model: expected string, received undefined"],
    ["no input", {}, "input: expected string or array"],
    ["an empty input", { input: [] }, "Missing user message in `input`."],
    ["a blank input", { input: " " }, "Missing user message in `input`."],
    [
      "an unknown item",
      { input: [{ type: "web_search_call" }] },
      'input.0.type: expected message, function_call, function_call_output, item_reference or reasoning, received "web_search_call"',
    ],
    ["10,001 items", { input: Array(10_001).fill(1) }, "input: 10001 entries; at most 10000"],
    ["an unknown role", { input: [{ role: "critic", content: "x" }] }, "input.0.role: expected user, assistant, system or developer"],
    [
      "a part of another type",
      { input: [user([{ type: "input_audio" }])] },
      "input.0.content.0: expected a part of type input_text, output_text, refusal, input_image or input_file",
    ],
    [
      "a stored file",
      { input: [user([{ type: "input_file", file_id: "f1" }])] },
      "input.0.content.0.file_id: files are not stored here; send the data or a URL",
    ],
    [
      "an answer at the end",
      { input: [user("x"), { role: "assistant", content: "y" }] },
      "input.1: expected a user message or a function_call_output after it",
    ],
    [
      "a call id of 4,097 characters",
      { input: [{ type: "function_call_output", call_id: "x".repeat(4_097), output: "" }] },
      "input.0.call_id: expected at most 4096 characters",
    ],
    [
      "an unknown phase",
      { input: [{ role: "assistant", content: "y", phase: "x" }, user("x")] },
      "input.0.phase: expected commentary or final_answer",
    ],
    [
      "a hosted tool",
      { input: "x", tools: [{ type: "web_search" }] },
      'tools.0.type: "web_search" is not supported; only tools of type "function" are',
    ],
    ["a tool's name", { input: "x", tools: [{ type: "function", name: one }] }, "tools.0.name: expected 1 to 64 letters, digits, _ or -"],
    [
      "an unknown choice",
      { input: "x", tools: [weather], tool_choice: { type: "function", name: "y" } },
      'tool_choice: names "y", which is not one of the tools',
    ],
    ["required without tools", { input: "x", tool_choice: "required" }, "tool_choice: required needs tools"],
    ["temperature", { input: "x", temperature: 2.1 }, "`temperature` must be between 0 and 2."],
    ["top_p", { input: "x", top_p: -0.1 }, "`top_p` must be between 0 and 1."],
    ["presence_penalty", { input: "x", presence_penalty: 3 }, "`presence_penalty` must be between -2 and 2."],
    ["max_output_tokens", { input: "x", max_output_tokens: 0 }, "max_output_tokens: Too small: expected number to be >=1"],
    ["background", { input: "x", background: true }, "background: is not supported; leave it out and use `stream`"],
    ["a conversation", { input: "x", conversation: "c" }, "conversation: is not supported; use `previous_response_id` or `user`"],
    [
      "17 pairs of metadata",
      { input: "x", metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ""])) },
      "metadata: expected at most 16 pairs",
    ],
    [
      "metadata of 513 characters",
      { input: "x", metadata: { k: "x".repeat(513) } },
      "metadata.k: Too big: expected string to have <=512 characters",
    ],
    [
      "an unknown effort",
      { input: "x", reasoning: { effort: "huge" } },
      "`reasoning.effort` must be one of none, minimal, low, medium, high, xhigh.",
    ],
    [
      "a format without a schema",
      { input: "x", text: { format: { type: "json_schema", name: "a" } } },
      "text.format.schema: expected object",
    ],
  ])("%s", (_name, body, message) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ message, code: "v1-bad-request" }));
  });
});

describe("the items of an input", () => {
  const call = (id: string) => ({ type: "function_call", call_id: id, name: "weather", arguments: '{"query":"Bern"}' });
  const output = (id: string, text = "sunny") => ({ type: "function_call_output", call_id: id, output: text });
  const turn = (...input: object[]) => read({ input }).turn;
  const text = (value: string) => [{ type: "text", text: value }];

  test("an answer and its calls are one turn of the agent, whatever stands between them", () => {
    const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me look." }], phase: "commentary" };

    expect(
      turn(user("Weather?"), said, { type: "reasoning", summary: [] }, call("c1"), call("c2"), output("c1"), output("c2", "")),
    ).toEqual({
      system: [],
      history: [
        { role: "user", content: text("Weather?") },
        {
          role: "assistant",
          content: [
            { type: "text", text: "Let me look." },
            ...["c1", "c2"].map((id) => ({ type: "toolCall", id, name: "weather", arguments: { query: "Bern" } })),
          ],
        },
      ],
      message: "",
      media: [],
      toolResults: [
        { toolCallId: "c1", text: "sunny" },
        { toolCallId: "c2", text: "" },
      ],
      orphan: undefined,
    });
  });

  test("pictures and files of earlier turns are notes beside the text", () => {
    const media = [
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
      { type: "input_file", file_data: "AAAA", filename: "a.txt" },
    ];
    const notes = [
      { type: "image", mimeType: "image/*", data: "" },
      { type: "file", mimeType: "application/octet-stream", data: "" },
    ];

    expect(
      turn(user([{ type: "input_text", text: "see" }, ...media]), user([{ type: "input_text", text: " " }, ...media]), user("and?"))
        .history,
    ).toEqual([
      { role: "user", content: [...text("see"), ...notes] },
      { role: "user", content: [...text("User sent image(s) with no text."), ...notes] },
    ]);
  });

  test("calls that each have their result behind them are turns of their own", () => {
    expect(
      turn(user("a"), call("c1"), output("c1"), call("c2"), output("c2")).history.map(({ role, toolName }) => [role, toolName]),
    ).toEqual([
      ["user", undefined],
      ["assistant", undefined],
      ["toolResult", "weather"],
      ["assistant", undefined],
    ]);
  });

  test("messages need no type, system and developer ones extend the prompt wherever they stand", () => {
    expect(turn({ role: "developer", content: "A." }, { role: "user", content: "x" }, { role: "system", content: "B." })).toMatchObject({
      system: ["A.", "B."],
      message: "x",
      history: [],
    });
  });

  test("a result without its call is named; pictures in results are named, too", () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,AAAA" };

    expect(turn({ type: "function_call_output", call_id: "c9", output: [{ type: "input_text", text: "see" }, image] })).toMatchObject({
      toolResults: [{ toolCallId: "c9", text: "see\n[image]" }],
      orphan: "input.0",
    });
  });

  test("more results than one commit can hold are refused with their number", () => {
    const many = Array.from({ length: 1_001 }, (_, i) => output(`c${i}`));

    expect(turn(...many.slice(1)).toolResults).toHaveLength(1_000);
    expect(() => turn(...many)).toThrow("input: 1001 results at the end; at most 1000");
  });

  test("are read in time that grows with their number", () => {
    const work = (n: number) => {
      const items = Array.from({ length: n }, (_, i) => [call(`c${i}`), output(`c${i}`), { role: "system", content: "x" }]).flat();
      return () => toResponsesTurn([...items.slice(0, -2), user("y")]);
    };

    expect(growth(work, { from: 250, to: 16_000 })).toBeLessThan(LINEAR);
  });
});

describe("tools and their choice", () => {
  const tools = ["a", "b"].map((name) => ({ type: "function", name }));
  const choose = (choice: unknown) => {
    const { clientTools, demand, echo } = read({ input: "x", tools, tool_choice: choice });
    return [clientTools.map(({ name }) => name), demand, echo.tool_choice];
  };

  test.each<[unknown, unknown]>([
    [undefined, [["a", "b"], undefined, "auto"]],
    ["none", [[], undefined, "none"]],
    ["required", [["a", "b"], {}, "required"]],
    [{ type: "function", name: "b" }, [["b"], { tool: "b" }, { type: "function", name: "b" }]],
    [{ type: "function", function: { name: "b" } }, [["b"], { tool: "b" }, { type: "function", name: "b" }]],
    [
      { type: "allowed_tools", tools: [{ type: "function", name: "a" }] },
      [["a"], undefined, { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "a" }] }],
    ],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "a" }] },
      [["a"], {}, { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "a" }] }],
    ],
  ])("%j", (choice, expected) => {
    expect(choose(choice)).toEqual(expected);
  });

  test("more than 1,000 are refused with the limit, as are so many chosen ones", () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => ({ type: "function", name: `f${i}` }));
    const all = { input: "x", tools: many(1_000) };

    expect(read({ ...all, tool_choice: { type: "allowed_tools", tools: many(1_000) } }).clientTools).toHaveLength(1_000);
    expect(() => read({ input: "x", tools: many(1_001) })).toThrow("tools: 1001 tools; at most 1000");
    expect(() => read({ ...all, tool_choice: { type: "allowed_tools", tools: [...many(1_000), ...many(1)] } })).toThrow(
      "tool_choice.tools: 1001 functions; at most 1000",
    );
  });

  test("null and empty objects count as absent", () => {
    const empty = {
      instructions: null,
      tools: null,
      tool_choice: null,
      text: {},
      reasoning: {},
      metadata: null,
      temperature: null,
      user: "",
    };
    const { sampling, thinking, user: session, echo } = read({ input: "x", ...empty });

    expect([sampling, thinking, session]).toEqual([{}, undefined, undefined]);
    expect(echo).toEqual({ ...read({ input: "x" }).echo, user: "" });
  });

  test("limits are kept at and one past them", () => {
    const metadata = (pairs: number, key: number, value: number) =>
      read({
        input: "x",
        metadata: Object.fromEntries(Array.from({ length: pairs }, (_, i) => [String(i).padStart(key, "0"), "x".repeat(value)])),
      });
    expect(() => metadata(16, 64, 512)).not.toThrow();
    for (const past of [() => metadata(17, 2, 2), () => metadata(1, 65, 1), () => metadata(1, 1, 513)]) expect(past).toThrow("metadata");
    expect(() =>
      read({ input: "x", tools: [{ type: "function", name: "x".repeat(64) }], max_output_tokens: 1, top_logprobs: 20 }),
    ).not.toThrow();
    expect(() => read({ input: [{ type: "function_call_output", call_id: "x".repeat(4_096), output: "" }] })).not.toThrow();
  });
});
