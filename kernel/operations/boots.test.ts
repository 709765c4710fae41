import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { beginBoot, isCrashLoop } from "./boots.ts";

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "svc-boots-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const minute = 60_000;
const boot = (dir: string, now: number) => beginBoot(dir, { bootId: `b${now}`, now });

test("the third unclean end within five minutes is a crash loop", async () => {
  const dir = folder();
  expect((await boot(dir, 0)).unclean).toEqual([]);
  expect((await boot(dir, minute)).unclean).toEqual([minute]);
  expect(isCrashLoop((await boot(dir, 2 * minute)).unclean)).toBe(false);

  const { unclean } = await boot(dir, 5.9 * minute);

  expect(unclean).toEqual([minute, 2 * minute, 5.9 * minute]);
  expect(isCrashLoop(unclean)).toBe(true);
});

test("ends further apart are none", async () => {
  const dir = folder();
  for (const now of [0, minute, 2 * minute]) await boot(dir, now);

  expect(isCrashLoop((await boot(dir, 6.1 * minute)).unclean)).toBe(false);
});

test("an end that was asked for counts nothing, and forgets nothing", async () => {
  const dir = folder();
  for (const now of [0, 1, 2]) await boot(dir, now);
  const asked = await boot(dir, 3);
  await asked.ended();

  expect((await boot(dir, 4)).unclean).toEqual([1, 2, 3]);
});

test("forgiven ends count no more, and the process that runs on still does", async () => {
  const dir = folder();
  for (const now of [0, 1, 2]) await boot(dir, now);
  await (await boot(dir, 3)).forgive();

  expect((await boot(dir, 4)).unclean).toEqual([4]);
});

test("ends from a clock that was ahead are none", async () => {
  const dir = folder();
  for (const now of [1e9, 1e9 + 1, 1e9 + 2]) await boot(dir, now);

  expect((await boot(dir, 5)).unclean).toEqual([5]);
});

test.each(["", "{", '{"running":1,"unclean":"x"}', '{"unclean":[null,"1"]}', "[]", "null"])(
  "a file of %j keeps no gateway down",
  async (text) => {
    const dir = folder();
    mkdirSync(join(dir, "gateway"));
    writeFileSync(join(dir, "gateway", "boots.json"), text);

    expect((await boot(dir, 5)).unclean).toEqual([]);
  },
);

test("a FIFO in the place of the file is not waited for", async () => {
  const dir = folder();
  mkdirSync(join(dir, "gateway"));
  execFileSync("mkfifo", [join(dir, "gateway", "boots.json")]);

  expect((await boot(dir, 5)).unclean).toEqual([]);
});
