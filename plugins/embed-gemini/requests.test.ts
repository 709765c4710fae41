import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { StructuredInput } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { chooseModel } from "./model-choice.ts";
import { jsonBody } from "./request-body.ts";
import { groupContents, isOversized, toContent } from "./requests.ts";

const choice = (model?: string) => chooseModel(model, undefined).choice;
const text = (words: string): StructuredInput => [{ type: "text", text: words }];
const picture = (bytes: number, mime = "image/png"): StructuredInput => [
  ...text("a picture"),
  { type: "media", mime, data: new Uint8Array(bytes) },
];
const sizes = (inputs: readonly StructuredInput[]) =>
  groupContents(inputs.map((input) => toContent(input, "document", choice("gemini-embedding-2")))).map((group) => group.length);

describe("a text", () => {
  test.each([
    ["gemini-embedding-001", "query", { content: { parts: [{ text: "T" }] }, taskType: "RETRIEVAL_QUERY" }],
    ["gemini-embedding-001", "document", { content: { parts: [{ text: "T" }] }, taskType: "RETRIEVAL_DOCUMENT" }],
    [
      "gemini-embedding-2-preview",
      "document",
      { content: { parts: [{ text: "T" }] }, taskType: "RETRIEVAL_DOCUMENT", outputDimensionality: 3_072 },
    ],
    ["gemini-embedding-2", "query", { content: { parts: [{ text: "task: search result | query: T" }] }, outputDimensionality: 3_072 }],
    ["gemini-embedding-2", "document", { content: { parts: [{ text: "title: none | text: T" }] }, outputDimensionality: 3_072 }],
  ] as const)("of %s as %s", (model, side, expected) => {
    expect(toContent(text("T"), side, choice(model))).toEqual(expected);
  });
});

describe("one call takes", () => {
  test("100 texts", () => {
    expect(sizes(Array(100).fill(text("a")))).toEqual([100]);
    expect(sizes(Array(201).fill(text("a")))).toEqual([100, 100, 1]);
    expect(sizes([])).toEqual([]);
  });

  test("6 images, and sounds besides", () => {
    expect(sizes(Array(6).fill(picture(10)))).toEqual([6]);
    expect(sizes(Array(7).fill(picture(10)))).toEqual([6, 1]);
    expect(sizes([...Array(6).fill(picture(10)), picture(10, "audio/mpeg"), text("a")])).toEqual([8]);
  });

  test("20 MB, base64 and all", () => {
    const half = picture(7_400_000, "audio/mpeg");

    expect(sizes([half, half])).toEqual([2]);
    expect(sizes([half, half, half])).toEqual([2, 1]);
    expect(isOversized(toContent(picture(14_900_000), "document", choice("gemini-embedding-2")))).toBe(false);
    expect(isOversized(toContent(picture(15_000_000), "document", choice("gemini-embedding-2")))).toBe(true);
  });
});

describe("a body", () => {
  const whole = async (body: ReturnType<typeof jsonBody>) => {
    if (typeof body === "string") return Buffer.from(body);
    if (body instanceof Uint8Array) return Buffer.from(body);
    const bytes = await buffer(Readable.from(body.chunks));
    expect(bytes).toHaveLength(body.bytes);
    return bytes;
  };

  test("of texts only is one text", async () => {
    expect(jsonBody({ a: "ü", b: [1] })).toBe('{"a":"ü","b":[1]}');
  });

  test("with bytes has them as base64, whatever stands around them", async () => {
    const bytes = Uint8Array.from({ length: 2_000_001 }, (_, i) => (i * 31) % 251);
    const odd = Buffer.from("x".repeat(100)).subarray(7, 12);
    const value = {
      a: 'ü " \\',
      one: { data: { bytes } },
      list: [{ data: { bytes: odd } }, { data: { bytes: new Uint8Array(0) } }],
      b: "end",
    };

    const parsed = JSON.parse((await whole(jsonBody(value))).toString("utf8")) as typeof value;

    expect(parsed).toEqual({
      ...value,
      one: { data: Buffer.from(bytes).toString("base64") },
      list: [{ data: Buffer.from("xxxxx").toString("base64") }, { data: "" }],
    });
  });
});
