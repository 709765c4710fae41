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

test("others have their turn while many lines come at once", async () => {
  const line = `${JSON.stringify(Array.from({ length: 1_000 }, (_, i) => i / 7))}\n`;
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect(await read(line.repeat(2_000), Number.MAX_SAFE_INTEGER)).toHaveLength(2_000);
  isOver = true;
  expect(turns).toBeGreaterThan(1);
});

test("a line that is no JSON, or over 1 MiB, is bad-response", async () => {
  await expect(read('{"a":1}\n<html>\n')).rejects.toMatchObject({ fault: "bad-response" });
  await expect(read(`"${"x".repeat(1024 * 1024)}"`, 65_536)).rejects.toMatchObject({ fault: "bad-response" });
  await expect(read(`"${"x".repeat(1024 * 1024)}"\n1\n`, 4_000_000)).rejects.toMatchObject({ fault: "bad-response" });
  expect(await read(`"${"x".repeat(1_000_000)}"\n1`, 65_536)).toHaveLength(2);
});
