import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dropNotice, noticePath, readNotices, writeNotice } from "./notices.ts";

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "svc-notices-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const notice = { id: "state/restored", severity: "warning" as const, message: "m", at: 10, until: 20, fix: "f" };

test("a notice is shown until its time is over, or until it is removed", async () => {
  const dir = folder();
  expect(await readNotices(dir, 0)).toEqual([]);

  await writeNotice(dir, { ...notice, message: "older" });
  await writeNotice(dir, notice);

  expect(await readNotices(dir, 19)).toEqual([notice]);
  expect(await readNotices(dir, 20)).toEqual([]);
  await dropNotice(dir, notice.id);
  await dropNotice(dir, notice.id);
  expect(await readNotices(dir, 19)).toEqual([]);
});

test("what is no notice is skipped", async () => {
  const dir = folder();
  await writeNotice(dir, notice);
  writeFileSync(noticePath(dir, "torn"), '{"id":');
  writeFileSync(noticePath(dir, "odd"), '{"id":"x","message":1}');

  expect(await readNotices(dir, 0)).toEqual([notice]);
});
