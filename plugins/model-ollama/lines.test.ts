import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLines } from "./lines.ts";

async function valuesOf(chunks: readonly Uint8Array[], limit?: number): Promise<unknown[]> {
  const values: unknown[] = [];
  async function* body() {
    yield* chunks;
  }
  for await (const value of jsonLines(body(), limit)) values.push(value);
  return values;
}

test("values are the same whatever the pieces they come in", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue()),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom("\n", "\r\n", "\n\n"),
      async (values, size, end) => {
        const bytes = Buffer.from(values.map((value) => JSON.stringify(value) + end).join(""));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
        expect(await valuesOf(chunks)).toEqual(values.map((value) => JSON.parse(JSON.stringify(value))));
      },
    ),
  );
});

test("the last value needs no end of a line", async () => {
  expect(await valuesOf([Buffer.from('{"a":1}\n{"b"'), Buffer.from(":2}")])).toEqual([{ a: 1 }, { b: 2 }]);
});

test.each([
  ["too long", "1".repeat(30), "larger than expected"],
  ["no JSON", "{a}\n", "could not be understood"],
])("a line that is %s is a fault of the server", async (_name, text, message) => {
  await expect(valuesOf([Buffer.from(text)], 20)).rejects.toMatchObject({ fault: "network", message: expect.stringContaining(message) });
});
