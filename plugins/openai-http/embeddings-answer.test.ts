import { describe, expect, test } from "vitest";
import { embeddingsJson } from "./embeddings.ts";

const vectors = [Float32Array.of(0.1, -2, 3e-7), Float32Array.of(1, 0, -0.5)];
const parsed = async (encoding: "float" | "base64", tokens = 0) =>
  JSON.parse(Buffer.from(await embeddingsJson({ vectors, tokens }, { model: 'svc/"ü"', encoding })).toString("utf8"));

describe("an answer", () => {
  test("has the vectors in order, the model as asked for, and what the vendor counted", async () => {
    expect(await parsed("float", 7)).toEqual({
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: [0.100000001, -2, 3.00000011e-7] },
        { object: "embedding", index: 1, embedding: [1, 0, -0.5] },
      ],
      model: 'svc/"ü"',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
  });

  test("in base64 is little-endian float32", async () => {
    const { data } = (await parsed("base64")) as { data: Array<{ embedding: string }> };

    expect(Buffer.from(data[1]?.embedding ?? "", "base64").toString("hex")).toBe("0000803f00000000000000bf");
    // A view into a larger buffer, as vectors of one answer are.
    const view = new Float32Array([9, 9, 1, 0, -0.5, 9]).subarray(2, 5);
    const body = await embeddingsJson({ vectors: [view], tokens: 0 }, { model: "svc", encoding: "base64" });
    expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ data: [{ embedding: data[1]?.embedding }] });
  });
});

describe("a large answer", () => {
  const large = Array.from({ length: 128 }, () => Float32Array.from({ length: 3_072 }, (_, i) => Math.sin(i)));

  test("lets others have their turn while it is written", async () => {
    let turns = 0;
    const count = () => {
      turns++;
      again = setImmediate(count);
    };
    let again = setImmediate(count);

    const body = await embeddingsJson({ vectors: large, tokens: 0 }, { model: "svc", encoding: "float" });

    clearImmediate(again);
    expect(turns).toBeGreaterThan(2);
    expect((JSON.parse(Buffer.from(body).toString()) as { data: unknown[] }).data).toHaveLength(128);
  });

  test("is not written on for a client that has gone away", async () => {
    const gone = new AbortController();
    const writing = embeddingsJson({ vectors: large, tokens: 0 }, { model: "svc", encoding: "float", signal: gone.signal });
    gone.abort();

    await expect(writing).rejects.toThrow();
  });
});
