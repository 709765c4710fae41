import { describe, expect, test } from "vitest";
import { okText } from "../../../test/fakes/openai-scripts.ts";
import { type ResponseReply, responseSchema } from "../../../test/fixtures/responses-schemas.ts";
import { onModel, responsesStage, user } from "../../../test/fixtures/responses-stage.ts";

const { gateway, ask, refusal, events, lastBody, told, system } = responsesStage();

/**
 * Every case of the public suite (https://github.com/openresponses/openresponses, `bin/compliance-test.ts`), under its id. The stage checks each answer and
 * each event against the schemas of that specification.
 */
describe("the public compliance suite", () => {
  const tools = [
    {
      type: "function",
      name: "get_weather",
      description: "Get the current weather for a location",
      parameters: { type: "object", properties: { location: { type: "string", description: "City and state" } }, required: ["location"] },
    },
  ];
  const inSanFrancisco = { input: [user("What's the weather like in San Francisco?")], tools };
  const isAnswered = ({ status, output }: ResponseReply) => expect([status, output.length > 0]).toEqual(["completed", true]);

  test("basic-response", async () => {
    isAnswered(await ask({ input: [user("Say hello in exactly 3 words.")] }));
  });

  test("streaming-response", async () => {
    const list = await events({ input: [user("Count from 1 to 5.")] });

    isAnswered(responseSchema.parse(list.at(-1)?.response));
  });

  test("system-prompt", async () => {
    const pirate = "You are a pirate. Always respond in pirate speak.";

    isAnswered(await ask({ input: [{ type: "message", role: "system", content: pirate }, user("Say hello.")] }));
    expect(system()).toContain(pirate);
  });

  test("tool-calling", async () => {
    const { output } = await ask(inSanFrancisco, onModel("tool"));

    expect(output).toMatchObject([{ type: "function_call", name: "get_weather", status: "completed" }]);
    expect(lastBody().tools).toMatchObject([{ function: { name: "get_weather", parameters: tools[0]?.parameters } }]);
  });

  test("tool-calling-streaming", async () => {
    const list = await events(inSanFrancisco, onModel("tool"));

    const ofCalls = list.filter(({ item }) => (item as { type?: string } | undefined)?.type === "function_call").map(({ type }) => type);
    expect(ofCalls).toEqual(["response.output_item.added", "response.output_item.done"]);
    const types = list.map(({ type }) => type);
    expect(types).toContain("response.function_call_arguments.delta");
    expect(types).toContain("response.function_call_arguments.done");
  });

  test("function-call-roundtrip", async () => {
    const request = { input: "Use the weather tool to get the temperature in San Francisco.", tools };
    const first = await ask({ ...request, tool_choice: { type: "function", name: "get_weather" } }, onModel("tool"));
    const call = first.output.find(({ type }) => type === "function_call");
    const output = {
      type: "function_call_output",
      call_id: call?.type === "function_call" && call.call_id,
      output: "64 degrees and clear",
    };

    isAnswered(await ask({ previous_response_id: first.id, input: [output] }, onModel("tool")));
    expect(told().at(-1)).toEqual(["tool", "64 degrees and clear"]);
  });

  test("image-input", async () => {
    const bytes = Buffer.from("89504e470d0a1a0a0000000d", "hex").toString("base64");
    const image = { type: "input_image", image_url: `data:image/png;base64,${bytes}` };

    isAnswered(await ask({ input: [user([{ type: "input_text", text: "What do you see?" }, image])] }));
    expect(told().at(-1)).toEqual([
      "user",
      [
        { type: "text", text: "What do you see?" },
        { type: "image_url", image_url: { url: image.image_url } },
      ],
    ]);
  });

  test("file-input", async () => {
    const data = Buffer.from("Title: a fixture").toString("base64");
    const file = { type: "input_file", filename: "fixture.txt", file_data: `data:text/plain;base64,${data}` };

    isAnswered(await ask({ input: [user([{ type: "input_text", text: "Answer with the title of the file only." }, file])] }));
    expect(system()).toContain("Title: a fixture");
  });

  test("multi-turn", async () => {
    const said = "Hello Alice! Nice to meet you.";
    const input = [user("My name is Alice."), { type: "message", role: "assistant", content: said }, user("What is my name?")];

    isAnswered(await ask({ input }));
    expect(told().slice(1)).toEqual([
      ["user", "My name is Alice."],
      ["assistant", said],
      ["user", "What is my name?"],
    ]);
  });

  test("assistant-phase", async () => {
    const say = (phase: string, content: string) => ({ type: "message", role: "assistant", phase, content });
    const input = [say("commentary", "I look at the number."), say("final_answer", "It is four."), user("Repeat only the number.")];

    isAnswered(await ask({ input }));
    expect(told().at(-1)).toEqual(["user", "Repeat only the number."]);
    await ask({ input: [user("Add."), ...input] });
    expect(told().slice(1)).toEqual([
      ["user", "Add."],
      ["assistant", "I look at the number.\nIt is four."],
      ["user", "Repeat only the number."],
    ]);
  });

  test("response-output-phase-schema", async () => {
    const { output } = await ask({ input: "hi", tools }, onModel("ok"));
    expect(output).toMatchObject([{ type: "message", phase: "final_answer" }]);

    const list = await events({ input: "hi", tools }, onModel("tool-cut"));
    const messages = list.flatMap(({ item }) => ((item as { type?: string } | undefined)?.type === "message" ? [item] : []));
    // Whether a text is the answer is known at its end only; the schema has no null for what is not known yet.
    expect(messages.map((item) => (item as { phase?: string }).phase)).toEqual([undefined, "commentary"]);
  });

  test("previous-response-id", async () => {
    const { id } = await ask({ input: "Remember this code word: papaya. Reply with only OK." });

    isAnswered(await ask({ previous_response_id: id, input: "What code word did I ask you to remember?" }));
    expect(told().slice(1)).toEqual([
      ["user", "Remember this code word: papaya. Reply with only OK."],
      ["assistant", okText],
      ["user", "What code word did I ask you to remember?"],
    ]);
  });

  describe("what a server need not have, and this one has not, is refused by name", () => {
    test.each(["file_search", "web_search"])("hosted tools: %s", async (type) => {
      expect(await refusal({ input: "hi", tools: [{ type }], tool_choice: { type } })).toEqual([
        400,
        `tools.0.type: "${type}" is not supported; only tools of type "function" are`,
      ]);
    });

    test("compact-response, compact-missing-model", async () => {
      const response = await gateway().fetch("/v1/responses/compact", {
        method: "POST",
        body: JSON.stringify({ model: "svc", input: "hi" }),
      });

      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({
        error: {
          message: "Not Found: there is no such endpoint, or it is turned off",
          ...{ type: "invalid_request_error", param: null, code: null },
        },
      });
    });
  });
});
