import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startChild } from "./child.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-child-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function script(name: string, code: string): Promise<URL> {
  await writeFile(join(dir, name), code);
  return pathToFileURL(join(dir, name));
}

test.each([
  ["echo.mjs", "process.on('message', (m) => process.send({ m, env: Object.keys(process.env).sort(), flags: process.execArgv }));"],
  [
    "echo.ts",
    "process.on('message', (m: unknown) => process.send?.({ m, env: Object.keys(process.env).sort(), flags: process.execArgv }));",
  ],
])(
  "a child from %s answers with typed arrays, sees only the variables it was given, and hands no source on to its own children",
  async (name, code) => {
    const child = startChild(await script(name, code), { env: { PATH: process.env.PATH ?? "", OWN: "1" } });
    child.send({ vector: Float32Array.of(1, 2) });
    const [answer] = await once(child, "message");
    expect(answer.m).toEqual({ vector: Float32Array.of(1, 2) });
    expect(answer.env.filter((key: string) => !/^(__CF|JITI)/.test(key))).toEqual(["OWN", "PATH"]);
    expect(answer.flags.join()).not.toContain("import");
    child.kill();
    await once(child, "exit");
  },
);

test("what it writes to standard error reaches its owner, and it can end with its owner", async () => {
  let told = "";
  const url = await script("end.mjs", "process.on('disconnect', () => process.exit(7)); console.error('a last word');");
  const child = startChild(url, { env: {}, onStderr: (text) => (told += text) });
  await once(child.stderr as NodeJS.ReadableStream, "data");
  child.disconnect();
  expect(await once(child, "exit")).toEqual([7, null]);
  expect(told).toContain("a last word");
});
