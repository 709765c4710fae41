import { isModelError, type ModelDelta } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { createEventReader, readAnswer } from "./answer.ts";

const encoder = new TextEncoder();

async function* bodyOf(...pieces: Array<string | Uint8Array>): AsyncIterable<Uint8Array> {
  for (const piece of pieces) yield typeof piece === "string" ? encoder.encode(piece) : piece;
}

interface Read {
  arrivals: Array<readonly ModelDelta[]>;
  deltas: ModelDelta[];
  error: unknown;
}

async function read(...pieces: Array<string | Uint8Array>): Promise<Read> {
  const arrivals: Array<readonly ModelDelta[]> = [];
  let error: unknown;
  try {
    for await (const arrival of readAnswer(bodyOf(...pieces), "lab")) arrivals.push(arrival);
  } catch (thrown) {
    error = thrown;
  }
  return { arrivals, deltas: arrivals.flat(), error };
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish_reason: string | null = null) => event({ id: "c", choices: [{ index: 0, delta, finish_reason }] });
const done = "data: [DONE]\n\n";
const stop = chunk({}, "stop") + done;
const text = (delta: string): ModelDelta => ({ type: "text", delta });
const noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const ended = (reason: string, usage: object = noUsage) => [
  { type: "usage", usage },
  { type: "finish", reason },
];

describe("an answer", () => {
  const twoLines = 'data: {"choices":[{"index":0,\ndata: "delta":{"content":"!"}}]}\n\n';
  const whole = `: ping\n${chunk({ role: "assistant", content: "" })}${chunk({ content: "Grüße, 🙂" })}event: x\nid: 7\n${twoLines}${stop}`;
  const expected = [text("Grüße, 🙂"), text("!"), ...ended("stop")];

  test("is the same wherever its bytes are cut, with each kind of line end", async () => {
    for (const body of [whole, whole.replaceAll("\n", "\r\n"), whole.replaceAll("\n", "\r"), `\ufeff${whole}`]) {
      const bytes = encoder.encode(body);
      for (let at = 0; at <= bytes.length; at++) {
        const { deltas, error } = await read(bytes.subarray(0, at), bytes.subarray(at));
        expect([at, deltas, error]).toEqual([at, expected, undefined]);
      }
      const bytewise = await read(...Array.from(bytes, (byte) => Uint8Array.of(byte)));
      expect(bytewise.deltas).toEqual(expected);
    }
  });

  test("comes together as far as it arrived together, in parts of at most 64", async () => {
    const { arrivals } = await read(chunk({ content: "a" }).repeat(130), chunk({ content: "b" }), stop);
    expect(arrivals.map((arrival) => arrival.length)).toEqual([64, 64, 2, 1, 2]);
  });

  test("may have data of several lines, fields without a space, and events without data", async () => {
    const lines = JSON.stringify({ choices: [{ delta: { content: "a" }, finish_reason: "stop" }] }, null, 1).split("\n");
    const { deltas } = await read(`event: note\n\nretry: 5\n\n${lines.map((line) => `data:${line}\n`).join("")}\ndata\n`);
    expect(deltas).toEqual([text("a"), ...ended("stop")]);
  });

  test.each<[name: string, body: string, deltas: unknown[]]>([
    [
      "counts in an event of their own",
      `${chunk({}, "stop")}${event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } })}`,
      ended("stop", { ...noUsage, input: 5, output: 2, total: 7 }),
    ],
    [
      "counts that are none",
      event({ choices: [{ delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: -1, completion_tokens: "9" } }),
      ended("stop"),
    ],
    ["no counts", event({ choices: [{ delta: {}, finish_reason: "stop" }], usage: null, error: null }), ended("stop")],
    [
      "several choices, of which the first counts",
      event({ choices: [{ delta: { content: "a" }, finish_reason: "stop" }, { delta: { content: "b" } }] }),
      [text("a"), ...ended("stop")],
    ],
    ["a reason without a delta", event({ choices: [{ finish_reason: "length" }] }), ended("length")],
    ["an unknown reason", chunk({}, "eos"), ended("other")],
    [
      "reasoning by either name",
      chunk({ reasoning: "a" }) + chunk({ reasoning_content: "b", content: "c" }, "stop"),
      [
        { type: "reasoning", delta: "a", id: "reasoning-0" },
        { type: "reasoning", delta: "b", id: "reasoning-0" },
        text("c"),
        ...ended("stop"),
      ],
    ],
    [
      "content in parts",
      chunk(
        { content: [{ type: "thinking", thinking: [{ type: "text", text: "a" }, 1] }, { type: "text", text: "b" }, { type: "image" }] },
        "stop",
      ),
      [{ type: "reasoning", delta: "a", id: "reasoning-0" }, text("b"), ...ended("stop")],
    ],
    ["a refusal", chunk({ refusal: "No." }) + chunk({ refusal: false }, "stop"), [text("No."), ...ended("content_filter")]],
    ["events behind its end", `${stop}${chunk({ content: "late" })}`, [text("late"), ...ended("stop")]],
    ["an event that never ends", `${stop}data: {"choices":[`, ended("stop")],
  ])("with %s", async (_, body, deltas) => {
    expect(await read(body)).toMatchObject({ deltas, error: undefined });
  });
});

describe("calls of tools", () => {
  const piece = (...calls: object[]) => chunk({ tool_calls: calls });
  const started = (id: string, name: string) => ({ type: "toolCall", id, name, argsDelta: "" });
  const more = (id: string, name: string, argsDelta: string) => ({ type: "toolCall", id, name, argsDelta });
  const end = (id: string) => ({ type: "toolCallEnd", id });

  test.each<[name: string, body: string, deltas: unknown[]]>([
    [
      "in pieces, two at a time",
      piece({ index: 0, id: "a", function: { name: "f", arguments: "" } }, { index: 1, id: "b", function: { name: "g", arguments: "{" } }) +
        piece({ index: 1, function: { arguments: "}" } }) +
        piece({ index: 0, function: { arguments: "{}" } }),
      [started("a", "f"), started("b", "g"), more("b", "g", "{"), more("b", "g", "}"), more("a", "f", "{}"), end("a"), end("b")],
    ],
    [
      "whose name comes last",
      piece({ index: 0, id: "a", function: { arguments: '{"x"' } }) + piece({ index: 0, function: { name: "f", arguments: ":1}" } }),
      [started("a", "f"), more("a", "f", '{"x":1}'), end("a")],
    ],
    ["without a number", piece({ id: "a", function: { name: "f", arguments: "{}" } }), [started("a", "f"), more("a", "f", "{}"), end("a")]],
    [
      "with data of the vendor",
      piece({ index: 0, id: "a", function: { name: "f" }, extra_content: { google: { thought_signature: "s" } } }),
      [started("a", "f"), { ...end("a"), meta: { lab: { thoughtSignature: "s" } } }],
    ],
  ])("%s", async (_, body, deltas) => {
    expect(await read(`${body}${chunk({}, "tool_calls")}`)).toMatchObject({
      deltas: [...deltas, ...ended("tool_calls")],
      error: undefined,
    });
  });

  test("without a name are no calls", async () => {
    const { error } = await read(`${piece({ index: 0, id: "a", function: { arguments: "{}" } })}${chunk({}, "tool_calls")}`);
    expect(error).toMatchObject({ name: "AI_InvalidResponseDataError" });
  });

  test("more than 256 end the answer, shown or not", async () => {
    const many = (call: (index: number) => object) =>
      Array.from({ length: 300 }, (_, index) => piece({ index, id: `c${index}`, ...call(index) }));
    for (const body of [many(() => ({ function: { name: "f" } })), many(() => ({ function: { arguments: "" } }))]) {
      const { error, deltas } = await read(...body);
      expect(error).toMatchObject({ fault: "network", message: 'provider "lab": it called more than 256 tools at once' });
      expect(deltas.length).toBeLessThanOrEqual(256);
    }
  });

  test("with arguments without a name do not wait for one for ever", async () => {
    const { error } = await read(...Array.from({ length: 20 }, () => piece({ index: 0, function: { arguments: "x".repeat(100_000) } })));
    expect(error).toMatchObject({ fault: "network", message: expect.stringContaining("larger than expected") });
  });
});

describe("what is no answer", () => {
  const strange = { fault: "network", message: 'provider "lab": the answer could not be understood' };
  const broken = { fault: "network", message: 'provider "lab": the answer broke off before its end' };

  test.each<[name: string, body: string, error: object]>([
    ["no event", "", broken],
    ["a document", '{"choices":[]}', broken],
    ["no reason for its end", chunk({ content: "a" }) + done, broken],
    ["no JSON", 'data: {"choices":[\n\n', strange],
    ["no object", event([1]), strange],
    ["no choices", event({ id: "c" }), strange],
    ["a choice that is none", event({ choices: ["a"] }), strange],
    ["content of another kind", chunk({ content: 5 }), strange],
    ["reasoning of another kind", chunk({ reasoning: {} }), strange],
    ["calls that are no list", chunk({ tool_calls: {} }), strange],
    ["a call without a function", chunk({ tool_calls: [{ index: 0 }] }), strange],
    ["a call with another number", chunk({ tool_calls: [{ index: "0", function: {} }] }), strange],
    ["an error without words", event({ error: { code: 1 } }), strange],
    ["an error", event({ error: { message: "Overloaded", code: null } }), { message: "Overloaded", code: null }],
    ["an error beside choices", event({ choices: [], error: { message: "Overloaded" } }), { message: "Overloaded" }],
    ["an error as a text", event({ error: "Overloaded" }), { message: "Overloaded" }],
  ])("%s ends it, behind what came before", async (_, body, error) => {
    const seen = await read(`${chunk({ content: "before" })}${body}`);
    expect(seen.deltas[0]).toEqual(text("before"));
    expect(seen.error).toMatchObject(error);
  });

  test("an event that is too long ends it before it is parsed", async () => {
    const { error } = await read("data: ", ...Array.from({ length: 40 }, () => "x".repeat(65_536)));
    expect(isModelError(error) && error.message).toContain("larger than expected");
  });
});

test("line ends alone, with a return behind them, are read at one pass", () => {
  const data: string[] = [];
  const feed = createEventReader((one) => data.push(one));
  const piece = encoder.encode(`${"\n".repeat(2_000_000)}\r`);
  // A look from each line to the return at the end would take minutes.
  feed(piece);
  feed(encoder.encode("\ndata: a\n\n"));
  expect(data).toEqual(["a"]);
});
