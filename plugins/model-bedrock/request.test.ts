import type { JsonObject, ModelMessage, ModelRequest } from "svc/sdk";
import type { ProviderSettings } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import { modelRequest, searchTool, user } from "../../test/fixtures/model-provider.ts";
import { toConverse } from "./request.ts";

const opus = "us.anthropic.claude-opus-4-6-v1";
const haiku = "global.anthropic.claude-haiku-4-5-20251001-v1:0";
const nova = "amazon.nova-pro-v1:0";
const mark = { cachePoint: { type: "default" } };
const tools = [searchTool];
const spec = { toolSpec: { name: "memory_search", description: "Searches.", inputSchema: { json: searchTool.inputSchema } } };

type Input = JsonObject & { messages: Array<{ role: string; content: JsonObject[] }> };
type More = Partial<ModelRequest> & { settings?: Partial<ProviderSettings> };

function inputOf(model: string, { settings, ...more }: More = {}): Input {
  return toConverse(modelRequest(model, more), { models: [], ...settings }).input as Input;
}

const thinker = (model: string, maxTokens?: number) => ({
  models: [{ id: model, reasoning: true, ...(maxTokens === undefined ? {} : { maxTokens }) }],
});
const called = (content: Extract<ModelMessage, { role: "assistant" }>["content"] = []): ModelMessage[] => [
  user("1"),
  { role: "assistant", content: [...content, { type: "toolCall", id: "a", name: "memory_search", args: {} }] },
  { role: "tool", toolCallId: "a", name: "memory_search", text: "" },
];
const signed = { type: "reasoning" as const, text: "Hm.", meta: { bedrock: { signature: "s+/=" } } };
const sealed = { type: "reasoning" as const, text: "", redacted: true as const, meta: { bedrock: { redacted: "AP8Q" } } };

test.each([
  [nova, { temperature: 0.5, topP: 0.2 }],
  ["anthropic.claude-3-5-sonnet-20241022-v2:0", { temperature: 0.5, topP: 0.2 }],
  [haiku, { temperature: 0.5 }],
  [opus, { temperature: 0.5 }],
  ["us.anthropic.claude-opus-4-7-v1", {}],
])("%s is sampled as it can be", (model, expected) => {
  const { maxTokens: _, ...sampling } = (inputOf(model, { sampling: { temperature: 0.5, topP: 0.2 } }).inferenceConfig ?? {}) as JsonObject;
  expect(sampling).toEqual(expected);
  expect(inputOf(haiku, { sampling: { topP: 0.2 } }).inferenceConfig).toMatchObject({ topP: 0.2 });
});

test("marks for the cache stand where a Claude keeps its prompt, and nowhere else", () => {
  expect(inputOf(opus, { tools })).toEqual({
    modelId: opus,
    system: [{ text: "You are helpful." }, mark],
    toolConfig: { tools: [spec, mark] },
    messages: [{ role: "user", content: [{ text: "Where is the router?" }, mark] }],
    inferenceConfig: { maxTokens: 8_192 },
  });
  expect(inputOf(nova, { tools })).toEqual({
    modelId: nova,
    system: [{ text: "You are helpful." }],
    toolConfig: { tools: [spec] },
    messages: [{ role: "user", content: [{ text: "Where is the router?" }] }],
  });
});

describe("the length of an answer", () => {
  test.each<[More, number | undefined]>([
    [{}, 8_192],
    [{ settings: { params: { max_tokens: 70 } } }, 70],
    [{ settings: { params: { max_tokens: 70 }, modelParams: { [haiku]: { max_tokens: 71 } } } }, 71],
    [{ settings: { params: { max_tokens: 70 } }, sampling: { maxTokens: 60 } }, 60],
    [{ settings: { models: [{ id: haiku, maxTokens: 50 }] }, sampling: { maxTokens: 60 } }, 50],
    [{ settings: { models: [{ id: haiku, maxTokens: 50 }] } }, 50],
    [{ settings: thinker(haiku), thinking: "medium" }, 16_384],
    [{ settings: thinker(haiku, 10_000), thinking: "medium" }, 10_000],
  ])("%j is %s", (more, maxTokens) => {
    expect(inputOf(haiku, more).inferenceConfig).toEqual({ maxTokens });
  });

  test("is the vendor's own where the model's is not known", () => {
    expect(inputOf(nova)).not.toHaveProperty("inferenceConfig");
    expect(inputOf(nova, { sampling: { maxTokens: 9 } }).inferenceConfig).toEqual({ maxTokens: 9 });
  });
});

test("the config's parameters stand below the request's own, those of the API where the API has them", () => {
  const params = { temperature: 0.1, top_p: 0.2, stop_sequences: ["A"], top_k: 5, guardrailConfig: { guardrailIdentifier: "g" } };
  const settings = { params, modelParams: { [opus]: { top_k: 9 } } };
  expect(inputOf(opus, { settings, sampling: { temperature: 0.5, stop: ["END"] } })).toMatchObject({
    inferenceConfig: { maxTokens: 8_192, temperature: 0.5, stopSequences: ["END"] },
    additionalModelRequestFields: { top_k: 9 },
    guardrailConfig: { guardrailIdentifier: "g" },
  });
});

describe("thinking", () => {
  const adaptive = (effort: string) => ({ thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } });
  const budget = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });
  const sonnet5 = "anthropic.claude-sonnet-5-5";

  test.each<[string, Partial<ModelRequest>, object | undefined]>([
    [opus, { thinking: "minimal" }, adaptive("low")],
    [opus, { thinking: "medium" }, adaptive("medium")],
    [opus, { thinking: "xhigh" }, adaptive("max")],
    [sonnet5, { thinking: "xhigh" }, adaptive("xhigh")],
    [opus, { thinking: "low", sampling: { reasoningEffort: "max" } }, adaptive("max")],
    [opus, { thinking: "off" }, { thinking: { type: "disabled" } }],
    [opus, { thinking: "high", sampling: { reasoningEffort: "none" } }, { thinking: { type: "disabled" } }],
    [opus, {}, undefined],
    [haiku, { thinking: "minimal" }, budget(1_024)],
    [haiku, { thinking: "low" }, budget(2_048)],
    [haiku, { thinking: "xhigh" }, budget(16_384)],
    [haiku, { thinking: "off" }, undefined],
    [haiku, { thinking: "low", tools, toolChoice: "required" }, undefined],
    [haiku, { thinking: "low", tools, messages: called() }, undefined],
    [haiku, { thinking: "low", tools, messages: called([{ type: "reasoning", text: "Of another model." }]) }, undefined],
    [haiku, { thinking: "low", tools, messages: called([signed]) }, budget(2_048)],
    [haiku, { thinking: "low", tools, messages: [...called(), user("2")] }, budget(2_048)],
    [opus, { thinking: "low", tools, messages: called() }, adaptive("low")],
    [nova, { thinking: "high" }, undefined],
  ])("of %s with %j is %j", (model, more, fields) => {
    expect(inputOf(model, { ...more, settings: thinker(model, 64_000) }).additionalModelRequestFields).toEqual(fields);
  });

  test("is not asked of a model that the config does not call a reasoning one, nor where no answer would be left", () => {
    expect(inputOf(haiku, { thinking: "high" })).not.toHaveProperty("additionalModelRequestFields");
    expect(inputOf(haiku, { thinking: "high", settings: thinker(haiku, 2_000) })).not.toHaveProperty("additionalModelRequestFields");
    expect(inputOf(haiku, { thinking: "high", settings: thinker(haiku, 4_096) }).additionalModelRequestFields).toEqual(budget(3_072));
  });

  test("leaves no room for temperature, unless it is off", () => {
    const sampling = { temperature: 0.5, topP: 0.5 };
    expect(inputOf(opus, { sampling, thinking: "low", settings: thinker(opus) }).inferenceConfig).toEqual({ maxTokens: 8_192 });
    expect(inputOf(opus, { sampling, thinking: "off", settings: thinker(opus) }).inferenceConfig).toMatchObject({ temperature: 0.5 });
  });

  test("with an effort that nobody knows is refused, with those that are known", () => {
    expect(() => inputOf(opus, { sampling: { reasoningEffort: "heroic" }, settings: thinker(opus) })).toThrow(
      expect.objectContaining({
        fault: "invalid_request",
        message: expect.stringContaining('"heroic" is not known; expected one of none, minimal'),
      }),
    );
  });
});

describe("reasoning of earlier turns", () => {
  const back = (model: string, parts: Extract<ModelMessage, { role: "assistant" }>["content"]) =>
    inputOf(model, { messages: [user("1"), { role: "assistant", content: parts }, user("2")] }).messages[1]?.content;
  const text = { type: "text" as const, text: "There." };

  test("goes back to a Claude with its signature and what is sealed, in order", () => {
    expect(back(opus, [signed, sealed, text])).toEqual([
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "s+/=" } } },
      { reasoningContent: { redactedContent: new Uint8Array([0, 255, 16]) } },
      { text: "There." },
    ]);
  });

  test.each([
    ["of another vendor", opus, [{ type: "reasoning" as const, text: "Hm.", meta: { anthropic: { signature: "s" } } }, text]],
    ["that nothing follows", opus, [text, signed]],
    ["for a model of another maker", nova, [signed, sealed, text]],
  ])("stays away: %s", (_what, model, parts) => {
    expect(back(model, parts)).toEqual([{ text: "There." }]);
  });
});

describe("tools", () => {
  test.each([
    ["auto" as const, undefined],
    ["required" as const, { any: {} }],
    [{ name: "memory_search" }, { tool: { name: "memory_search" } }],
    [undefined, undefined],
  ])("choice %j is %j", (toolChoice, wire) => {
    const { toolConfig } = inputOf(nova, { tools, ...(toolChoice === undefined ? {} : { toolChoice }) }) as { toolConfig?: JsonObject };
    expect(toolConfig?.toolChoice).toEqual(wire);
  });

  test.each<[string, Partial<ModelRequest>, { names: string[]; ignoresCalls: boolean }]>([
    ["none offered, none called", {}, { names: [], ignoresCalls: false }],
    ["none wanted, none called", { tools, toolChoice: "none" }, { names: [], ignoresCalls: false }],
    ["none wanted, one called", { tools, toolChoice: "none", messages: called() }, { names: ["memory_search"], ignoresCalls: true }],
    ["one called that is gone", { messages: called() }, { names: ["memory_search"], ignoresCalls: true }],
    [
      "another one now",
      { tools: [{ ...searchTool, name: "find" }], messages: called() },
      { names: ["find", "memory_search"], ignoresCalls: false },
    ],
  ])("%s", (_what, more, expected) => {
    const { input, ignoresCalls } = toConverse(modelRequest(nova, more), { models: [] });
    const offered = ((input.toolConfig as typeof undefined | { tools: Array<typeof spec> })?.tools ?? []).map(
      ({ toolSpec }) => toolSpec.name,
    );
    expect({ names: offered, ignoresCalls }).toEqual(expected);
  });

  test("are held to their schema where the model can, and have a description", () => {
    const strict = [{ ...searchTool, description: "", strict: true }];
    const first = (model: string) => (inputOf(model, { tools: strict }).toolConfig as { tools: Array<typeof spec> }).tools[0]?.toolSpec;
    expect(first(haiku)).toMatchObject({ description: "memory_search", strict: true });
    expect(first(nova)).not.toHaveProperty("strict");
  });
});

describe("messages", () => {
  test("results of one answer and what the user says then stand in one message", () => {
    const calls = ["a", "b", "c"].map((id) => ({ type: "toolCall" as const, id, name: "memory_search", args: { id } }));
    const results = calls.map(
      ({ id }): ModelMessage => ({ role: "tool", toolCallId: id, name: "memory_search", text: id, isError: id === "b" }),
    );
    const { messages } = inputOf(nova, { tools, messages: [user("1"), { role: "assistant", content: calls }, ...results, user("2")] });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[2]?.content).toEqual([
      { toolResult: { toolUseId: "a", content: [{ text: "a" }], status: "success" } },
      { toolResult: { toolUseId: "b", content: [{ text: "b" }], status: "error" } },
      { toolResult: { toolUseId: "c", content: [{ text: "c" }], status: "success" } },
      { text: "2" },
    ]);
  });

  test("have no empty texts, no empty results, and objects for arguments", () => {
    const calls = [{ a: 1 }, undefined, null, '{"q":', [1]].map((args, i) => ({ type: "toolCall" as const, id: `${i}`, name: "x", args }));
    const results = calls.map(({ id }): ModelMessage => ({ role: "tool", toolCallId: id, name: "x", text: " " }));
    const answer: ModelMessage = { role: "assistant", content: [{ type: "text", text: " \n" }, ...calls] };
    const { messages, system } = inputOf(nova, { system: "\n", messages: [user(""), answer, ...results] });
    expect(system).toBeUndefined();
    expect(messages[0]?.content).toEqual([{ text: "(empty)" }]);
    const inputs = messages[1]?.content.map(({ toolUse }) => (toolUse as { input: unknown }).input);
    expect(inputs).toEqual([{ a: 1 }, {}, {}, { malformed: '{"q":' }, { malformed: [1] }]);
    expect(messages[2]?.content[0]).toMatchObject({ toolResult: { content: [{ text: "(empty)" }] } });
  });

  test("carry pictures and PDF under names that differ; other files are named", () => {
    const pdf = (fileName?: string) => ({
      type: "file" as const,
      mimeType: "application/pdf",
      data: "JVBERi0=",
      ...(fileName ? { fileName } : {}),
    });
    const content = [
      pdf("a_b!.pdf"),
      pdf("a b.pdf"),
      pdf("a b pdf"),
      pdf(),
      { type: "file" as const, mimeType: "audio/mp3", data: "AA==" },
    ];
    const { messages } = inputOf(nova, {
      messages: [
        { role: "user", content },
        { role: "assistant", content: [{ type: "text", text: "Yes." }] },
        { role: "user", content: [pdf("a".repeat(300))] },
      ],
    });
    const names = messages.flatMap((one) => one.content.flatMap(({ document }) => (document ? [(document as { name: string }).name] : [])));
    expect(names).toEqual(["a b pdf", "a b pdf (2)", "a b pdf (3)", "document", "a".repeat(190)]);
    expect(messages[0]?.content.at(-1)).toEqual({ text: "[a file of type audio/mp3, which this model cannot read]" });
    expect(messages[2]?.content[1]).toEqual({ text: "(a document without words)" });
  });

  test("get four marks at most, the last two at the newest turns of people", () => {
    const messages = ["1", "2", "3"].flatMap((text): ModelMessage[] => [
      user(text),
      { role: "assistant", content: [{ type: "text", text }] },
    ]);
    const { messages: sent } = inputOf(opus, { tools, messages: [...messages, user("4")] });
    expect(sent.map(({ content }) => content.length)).toEqual([1, 1, 1, 1, 2, 1, 2]);
  });
});

describe("JSON", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };

  test("by a schema is the API's own", () => {
    const { outputConfig } = inputOf(opus, { sampling: { responseFormat: { type: "json_schema", name: "n", schema } } });
    expect(outputConfig).toEqual({
      textFormat: { type: "json_schema", structure: { jsonSchema: { schema: JSON.stringify(schema), name: "n" } } },
    });
  });

  test.each([
    ["You are helpful.", 3],
    ["", 1],
  ])("without one is asked for in words, behind what is cached (%j)", (system, count) => {
    const sent = inputOf(opus, { system, sampling: { responseFormat: { type: "json_object" } } }).system as JsonObject[];
    expect(sent).toHaveLength(count);
    expect(sent.at(-1)).toEqual({ text: expect.stringContaining("JSON object") });
  });
});

test("a conversation that begins with an answer is sent whole, behind a message that stands for a user's", () => {
  const messages: ModelMessage[] = [{ role: "assistant", content: [{ type: "text", text: "Welcome." }] }, user("Hi.")];
  expect(inputOf(nova, { messages }).messages).toEqual([
    { role: "user", content: [{ text: "(start of the conversation)" }] },
    { role: "assistant", content: [{ text: "Welcome." }] },
    { role: "user", content: [{ text: "Hi." }] },
  ]);
});
