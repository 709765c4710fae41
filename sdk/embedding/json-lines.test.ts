import { expect, test } from "vitest";
import { jsonLines } from "./json-lines.ts";

async function read(text: string, step = 5): Promise<unknown[]> {
  async function* chunks() {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  }
  const values: unknown[] = [];
  for await (const value of jsonLines(chunks(), "acme")) values.push(value);
  return values;
}

test.each([1, 3, 1_000])("lines are read from pieces of %i bytes, blank ones left out", async (step) => {
  expect(await read('{"a":"é🙂"}\n\n  \r\n{"b":[1]}\n7', step)).toEqual([{ a: "é🙂" }, { b: [1] }, 7]);
  expect(await read("", step)).toEqual([]);
});

test("a line that is no JSON, or over 4 MiB, is bad-response", async () => {
  await expect(read('{"a":1}\n<html>\n')).rejects.toMatchObject({ fault: "bad-response" });
  await expect(read(`"${"x".repeat(4 * 1024 * 1024)}"`, 65_536)).rejects.toMatchObject({ fault: "bad-response" });
  expect(await read(`"${"x".repeat(4_000_000)}"\n1`, 65_536)).toHaveLength(2);
});
