import { describe, expect, test } from "vitest";
import { growth, LINEAR } from "../../test/tools/growth.ts";
import { decodeImages } from "./images.ts";
import { toTurn } from "./prompt.ts";

const call = (id: string, name: string, args = "{}") => ({ id, type: "function", function: { name, arguments: args } });
const text = (value: string) => [{ type: "text", text: value }];

describe("which message is what", () => {
  test("the last user message is the current turn, earlier ones are history, system texts extend the prompt", () => {
    const turn = toTurn([
      { role: "system", content: "Be brief." },
      { role: "user", content: "one" },
      { role: "assistant", content: "1" },
      { role: "developer", content: text("Be kind.") },
      { role: "critic", content: "skipped" },
      { role: "user", content: text("two") },
    ]);

    expect(turn).toEqual({
      system: "Be brief.\n\nBe kind.",
      history: [
        { role: "user", content: text("one") },
        { role: "assistant", content: text("1") },
      ],
      message: "two",
      images: [],
      files: [],
      audio: [],
      earlierImages: [],
      earlierFiles: [],
      toolResults: [],
      orphan: undefined,
    });
  });

  test("all tool results at the end are the current turn; the calls they answer are history", () => {
    const turn = toTurn([
      { role: "user", content: "weather?" },
      { role: "assistant", content: null, tool_calls: [call("c1", "weather", '{"city":"Bern"}'), call("c2", "time", "not json")] },
      { role: "tool", tool_call_id: "c1", content: "sunny" },
      { role: "tool", tool_call_id: "c2", content: "" },
    ]);

    expect(turn.message).toBe("");
    expect(turn.toolResults).toEqual([
      { toolCallId: "c1", text: "sunny" },
      { toolCallId: "c2", text: "" },
    ]);
    expect(turn.history.at(-1)).toEqual({
      role: "assistant",
      content: [
        { type: "toolCall", id: "c1", name: "weather", arguments: { city: "Bern" } },
        { type: "toolCall", id: "c2", name: "time", arguments: "not json" },
      ],
    });
    expect(turn.orphan).toBeUndefined();
  });

  test("earlier tool results are history, bound by id", () => {
    const turn = toTurn([
      { role: "assistant", content: "", tool_calls: [call("c1", "weather")] },
      { role: "tool", tool_call_id: "c1", content: "" },
      { role: "assistant", content: "Sunny." },
      { role: "user", content: "thanks" },
    ]);

    expect(turn.history[1]).toEqual({ role: "toolResult", content: text(""), toolCallId: "c1", toolName: "weather" });
  });

  test("the legacy function role answers the latest call of that name", () => {
    const turn = toTurn([
      { role: "user", content: "weather?" },
      { role: "assistant", content: null, function_call: { name: "weather", arguments: "{}" } },
      { role: "function", name: "weather", content: "sunny" },
    ]);

    const [block] = turn.history[1]?.content ?? [];
    expect(block).toMatchObject({ type: "toolCall", name: "weather" });
    expect(turn.toolResults).toEqual([{ toolCallId: block?.type === "toolCall" ? block.id : "", text: "sunny" }]);
  });

  test("a result without its call is named, for sessions that cannot hold it", () => {
    expect(toTurn([{ role: "tool", tool_call_id: "c9", content: "x" }]).orphan).toBe("messages.0");
  });

  test("a current turn of images only gets a text", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };

    expect(toTurn([{ role: "user", content: [image] }])).toMatchObject({
      message: "User sent image(s) with no text.",
      images: [image.image_url.url],
    });
    expect(
      toTurn([
        { role: "user", content: [image] },
        { role: "user", content: "and?" },
      ]),
    ).toMatchObject({
      history: [{ role: "user", content: text("User sent image(s) with no text.") }],
      images: [],
    });
  });

  test("files and recordings of the current turn are read, files of earlier ones again", () => {
    const file = (name: string) => ({ type: "file", file: { filename: name, file_data: "data:text/csv;base64,MSwy" } });
    const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } };
    const turn = toTurn([
      { role: "user", content: [file("old.csv"), audio] },
      { role: "assistant", content: "Yes." },
      { role: "user", content: [audio, file("new.csv")] },
    ]);

    const from = { data: "MSwy", mime: "text/csv" };
    expect(turn).toMatchObject({
      message: "User sent file(s) with no text.",
      files: [{ kind: "file", path: "messages.2.content.1.file", from, filename: "new.csv" }],
      audio: [{ path: "messages.2.content.0.input_audio", mimeType: "audio/mpeg", data: "AAAA" }],
      earlierFiles: [{ turn: turn.history[0], part: { path: "messages.0.content.0.file", from, filename: "old.csv" } }],
    });
    expect(turn.history[0]?.content).toEqual([
      ...text("User sent file(s) with no text."),
      { type: "file", mimeType: "audio/mpeg", data: "" },
    ]);
  });

  test.each([
    [[], "Missing user message in `messages`."],
    [[{ role: "system", content: "x" }], "Missing user message in `messages`."],
    [[{ role: "user", content: " " }], "Missing user message in `messages`."],
    [[{ role: "user", content: 5 }], "messages.0.content: expected string or array, received number"],
    [[{ role: "user", content: [{ type: "input_audio" }] }], "messages.0.content.0.input_audio.format: expected wav or mp3"],
    [[{ role: "user", content: [{ type: "input_audio", input_audio: { format: "mp3" } }] }], "input_audio.data: expected base64"],
    [[{ role: "user", content: [{ type: "file", file: {} }] }], "messages.0.content.0.file.file_data: expected a base64 data: URL"],
    [[{ role: "user", content: [{ type: "file", file: { file_id: "f1" } }] }], "file.file_id: files are not stored here; send file_data"],
    [[{ role: "system", content: [{ type: "file" }] }], "messages.0.content.0: file parts are for user messages only"],
    [[{ role: "user", content: [{ type: "video" }] }], "expected a part of type text, image_url, file or input_audio"],
    [[{ role: "user", content: [{ type: "image_url" }] }], "Invalid image_url content in `messages`."],
    [[{ role: "tool", content: "x" }], "messages.0.tool_call_id: expected string, received undefined"],
    [
      [
        { role: "assistant", tool_calls: [{ function: { name: "a" } }] },
        { role: "user", content: "x" },
      ],
      "messages.0.tool_calls.0.id: expected string, received undefined",
    ],
    [
      [
        { role: "assistant", tool_calls: [{ id: "c" }] },
        { role: "user", content: "x" },
      ],
      "messages.0.tool_calls.0.function.name: expected string, received undefined",
    ],
  ])("%j is refused", (messages, message) => {
    expect(() => toTurn(messages as Parameters<typeof toTurn>[0])).toThrow(message);
  });
});

describe("images", () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  const samples: Record<string, Buffer> = {
    "image/png": png,
    "image/jpeg": Buffer.from("ffd8ffe000104a46494600010100", "hex"),
    "image/gif": Buffer.from("GIF89a000000000"),
    "image/webp": Buffer.from("RIFF0000WEBPVP8 "),
    "image/heic": Buffer.from("\0\0\0\x18ftypheic0000"),
    "image/heif": Buffer.from("\0\0\0\x18ftypmif10000"),
  };
  const data = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString("base64")}`;

  async function refusal(addresses: string[]): Promise<string> {
    const reasons: string[] = [];
    await expect(decodeImages(addresses, (reason) => reasons.push(reason))).rejects.toThrow("Invalid image_url content in `messages`.");
    return reasons.join();
  }

  test.each(Object.keys(samples))("%s is taken", async (type) => {
    const bytes = samples[type] ?? Buffer.alloc(0);

    expect(await decodeImages([data(type, bytes)], () => undefined)).toEqual([
      { type: "image", mimeType: type, data: bytes.toString("base64") },
    ]);
  });

  test.each([
    ["https://example.org/a.png", "not a base64 data: address"],
    ["data:image/png,abc", "not a base64 data: address"],
    ["data:image/svg+xml;base64,PHN2Zz4=", "type image/svg+xml is not accepted"],
    [data("image/jpeg", png), "the bytes are not image/jpeg"],
    [data("image/png", Buffer.from("plain text, no picture")), "the bytes are not image/png"],
    ["data:image/png;base64,iVBO*w0KGgo=", "not valid base64"],
    ["data:image/png;base64,", "not valid base64"],
  ])("%s is refused", async (address, reason) => {
    expect(await refusal([address])).toBe(`image 0: ${reason}`);
  });

  test("8 images are taken, 9 are not", async () => {
    const one = data("image/png", png);

    expect(await decodeImages(Array(8).fill(one), () => undefined)).toHaveLength(8);
    expect(await refusal(Array(9).fill(one))).toContain("at most 8");
  });

  test("10 MiB are taken, one byte more is not; together at most 20 MiB", async () => {
    const limit = 10 * 1024 * 1024;
    const full = data("image/png", Buffer.concat([png, Buffer.alloc(limit - png.length)]));

    expect(await decodeImages([full, full], () => undefined)).toHaveLength(2);
    expect(await refusal([data("image/png", Buffer.concat([png, Buffer.alloc(limit - png.length + 1)]))])).toContain(
      "larger than 10485760 bytes",
    );
    expect(await refusal([full, full, data("image/png", png)])).toContain("larger than 20971520 bytes together");
  });
});

describe("a request of many tool calls", () => {
  const calls = (n: number) => Array.from({ length: n }, (_, i) => call(`c${i}`, `t${i % 7}`));
  /** As many messages as it takes: one has 1,000 calls at most. */
  const calling = (n: number) =>
    Array.from({ length: Math.ceil(n / 1_000) }, (_, i) => ({ role: "assistant", tool_calls: calls(n).slice(i * 1_000, (i + 1) * 1_000) }));
  const functions = (n: number) => Array.from({ length: n }, (_, i) => ({ role: "function", name: `t${i % 7}`, content: "x" }));

  test("does not block the event loop: legacy results find their call without a walk over all calls", () => {
    const work = (n: number) => {
      const messages = [{ role: "user", content: "x" }, ...calling(n), ...functions(n), { role: "user", content: "y" }];
      return () => toTurn(messages);
    };

    expect(growth(work, { from: 250, to: 32_000 })).toBeLessThan(LINEAR);
  });

  test("a call id that is used again belongs to the tool that used it last", () => {
    const turn = toTurn([
      { role: "assistant", tool_calls: [call("c1", "weather"), call("c1", "time")] },
      { role: "function", name: "time", content: "x" },
      { role: "function", name: "weather", content: "y" },
    ]);

    expect(turn.toolResults.map((result) => result.toolCallId)).toEqual(["c1", "function_weather"]);
  });
});
