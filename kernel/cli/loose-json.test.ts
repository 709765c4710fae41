import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readLooseJson } from "./loose-json.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-json-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(text: string) {
  const path = join(folder, "file.json");
  await writeFile(path, text);
  return readLooseJson(path);
}

it.each([
  ['{"a":1}', { a: 1 }],
  ['\uFEFF{"a":1}', { a: 1 }],
  ["{ a: 1, // why\n}", { a: 1 }],
])("reads %j", async (text, value) => expect(await read(text)).toEqual(value));

it.each([
  ["JSON", (inner: string) => `{"a":${inner}}`],
  ["JSON5", (inner: string) => `{a:${inner},}`],
])("throws for %s that is nested too deeply, before anything walks it", async (_, wrap) => {
  const lists = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  await expect(read(wrap(lists(64)))).rejects.toThrow("nested deeper than 64 levels");
  await expect(read(wrap(lists(20_000)))).rejects.toThrow("nested deeper than 64 levels");
  expect(await read(wrap(lists(63)))).toHaveProperty("a");
});

it("throws for what is neither, and for a missing file", async () => {
  await expect(read("{ nonsense")).rejects.toThrow();
  await expect(readLooseJson(join(folder, "none"))).rejects.toMatchObject({ code: "ENOENT" });
});
