import { expect, test } from "vitest";
import { createVectorJson } from "./vector-json.ts";
import { readVector } from "./vectors.ts";

function parsed(text: string, step: number): unknown {
  const bytes = Buffer.from(text);
  const parser = createVectorJson();
  for (let at = 0; at < bytes.length; at += step) parser.push(bytes.subarray(at, at + step));
  return parser.end();
}

/** The value with its lists of numbers as plain lists. */
function plain(value: unknown): unknown {
  if (value instanceof Float32Array) return [...value];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

const values = [
  {
    data: [
      { index: 0, embedding: [0.5, -1, 2e3] },
      { index: 1, embedding: [1, 2, 3] },
    ],
    usage: { total_tokens: 7 },
  },
  { embeddings: [[0.25], [-0.5]], model: "é🙂 [1,2]", note: 'a "quoted" \\ text', empty: [], mixed: ["a", [], [[1]]] },
  { data: [{ embedding: `${"QUJD".repeat(600)}QQ` }], vector: "QUJD".repeat(600), long: `${"x".repeat(2_000)}\\"🙂"${"y".repeat(50)}` },
  [1, 2],
  "text",
  { a: "ends with \\", b: ['\\\\"', [1]] },
  7,
  null,
];

test.each(values.map((value) => [JSON.stringify(value).slice(0, 40), value]))(
  "%s… is read the same in pieces of any size",
  (_name, value) => {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      for (const step of [1, 2, 3, 7, 64, 100_000]) expect(plain(parsed(text, step))).toEqual(value);
    }
  },
);

test("lists of numbers become vectors, and what is no number in one becomes NaN", () => {
  expect(parsed("[0.5,null]", 100)).toEqual(Float32Array.of(0.5, Number.NaN));
  expect(parsed("[1e999]", 100)).toEqual(Float32Array.of(Number.POSITIVE_INFINITY));
});

test("a vector in base64 is decoded where it is called one, and every other text stays a text", () => {
  const vector = Float32Array.from({ length: 500 }, (_, i) => i / 3);
  const base64 = Buffer.from(vector.buffer).toString("base64");
  const answer = (embedding: unknown) => ({ token: base64, data: [{ embedding }, { embedding: vector.join() }] });
  for (const text of [JSON.stringify(answer(base64)), JSON.stringify(answer(base64), null, 2)]) {
    expect(parsed(text, 65_536)).toEqual(answer(vector));
    for (const step of [900, 901, 902]) {
      const { token, data } = parsed(text, step) as ReturnType<typeof answer>;
      expect([token, readVector(data[0]?.embedding)]).toEqual([base64, vector]);
    }
  }
  // Its name in two pieces: the reader of the answer decodes it.
  expect(parsed(JSON.stringify({ embedding: base64 }), 8)).toEqual({ embedding: base64 });
});

test.each([1, 2, 3, 100])("a text that ends in a backslash ends there (pieces of %i)", (step) => {
  expect(parsed('{"a":"b\\\\","c":[1],"d":"\\\\\\"","e":[2]}', step)).toEqual({
    a: "b\\",
    c: Float32Array.of(1),
    d: '\\"',
    e: Float32Array.of(2),
  });
});

test.each(['{"a":[1,2', '{"a":"b', '{"a":', "[1,,2]", "<html>", '{"a":[1,NaN]}', "[", ""])("%s is refused as no JSON", (text) => {
  expect(() => parsed(text, 3)).toThrow(SyntaxError);
});

test("a megabyte of numbers is read a piece at a time", () => {
  const embedding = Array.from({ length: 3_072 }, (_, i) => i / 7);
  const text = JSON.stringify({ data: Array.from({ length: 30 }, (_, index) => ({ index, embedding })) });
  expect(text.length).toBeGreaterThan(1_000_000);
  const { data } = parsed(text, 65_536) as { data: Array<{ embedding: Float32Array }> };
  expect(data).toHaveLength(30);
  expect(data.every((item) => item.embedding.length === 3_072)).toBe(true);
  expect(data[29]?.embedding[3_071]).toBe(Math.fround(3_071 / 7));
});

test.each([
  ["a list of numbers", `[${"1,".repeat(300_000)}1]`],
  ["a text", `{"a":"${"x".repeat(600_000)}"}`],
  ["an answer without vectors", `[${"{},".repeat(400_000)}{}]`],
])("%s that would hold up the event loop is refused while it comes", (_name, text) => {
  const parser = createVectorJson();
  const bytes = Buffer.from(text);
  expect(() => {
    for (let at = 0; at < bytes.length; at += 65_536) parser.push(bytes.subarray(at, at + 65_536));
  }).toThrow(SyntaxError);
});

test("an answer that is nested without end is refused, and takes no stack", () => {
  const depth = 20_000;
  expect(() => parsed(`${"[".repeat(depth)}""${"]".repeat(depth)}`, 65_536)).toThrow(SyntaxError);
});

test.each([
  ["numbers", (vector: Float32Array) => [...vector]],
  ["base64", (vector: Float32Array) => Buffer.from(vector.buffer).toString("base64")],
])("vectors of an answer as %s lie side by side in pieces of memory that no query shares", (_, encode) => {
  const vectors = Array.from({ length: 66 }, (_, i) => new Float32Array(768).fill(i));
  const json = createVectorJson();
  json.push(Buffer.from(JSON.stringify({ data: vectors.map((vector) => ({ embedding: encode(vector) })) })));
  const found = (json.end() as { data: Array<{ embedding: Float32Array }> }).data.map(({ embedding }) => embedding);
  expect(found).toEqual(vectors);
  const pieces = [...new Set(found.map(({ buffer }) => buffer))];
  expect(pieces.map(({ byteLength }) => byteLength / 768 / 4)).toEqual([1, 32, 32, 32]);
});
