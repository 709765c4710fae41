import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { configured, freshHome, gatewayIn, json, stopAll, token } from "./_cli.ts";
import { commandJson } from "./_command.ts";

afterEach(stopAll);

interface Doctor {
  findings: Array<{ id: string; path?: string; message: string }>;
  fixes?: Array<{ id: string; done: boolean }>;
}

test("doctor finds unfinished indexes that nobody works on and deletes them; a rebuild of another process is left alone and named", async () => {
  const home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { memorySearch: { provider: "none" } } },
  });
  await gatewayIn(home);
  await commandJson(home, ["memory", "index"]);
  const folder = join(home.stateDir, "memory");
  await mkdir(folder, { recursive: true });
  const [old, young] = [join(folder, "main.sqlite.tmp-old"), join(folder, "main.sqlite.tmp-young")];
  for (const path of [old, young]) await writeFile(path, "unfinished");
  const hourAgo = new Date(Date.now() - 3_700_000);
  await utimes(old, hourAgo, hourAgo);
  const only = ["doctor", "--only", "memory/orphan-temp,memory/locked"];

  expect((await commandJson(home, only)).value).toMatchObject({
    ok: false,
    findings: [{ id: "memory/orphan-temp", path: old, fixable: true }],
  });
  const { value } = await json(home, [...only, "--fix"]);
  expect(value as unknown as Doctor).toMatchObject({ findings: [], fixes: [{ id: "memory/orphan-temp", done: true }] });
  expect(await readdir(folder)).not.toContain("main.sqlite.tmp-old");
  expect(await readdir(folder)).toContain("main.sqlite.tmp-young");

  await writeFile(join(folder, "main.sqlite.reindex-lock"), JSON.stringify({ pid: process.pid, startTime: null }));
  expect((await commandJson(home, only)).value).toMatchObject({
    findings: [{ id: "memory/locked", message: expect.stringContaining(`process ${process.pid}`) }],
  });
});
