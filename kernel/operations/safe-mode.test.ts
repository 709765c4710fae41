import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../process/logger.ts";
import { createSafeMode } from "./safe-mode.ts";

test("a disk without room does not keep off what safe mode kept off", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-safe-mode-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const logs: string[] = [];
  const full = () => Promise.reject(Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
  const safeMode = createSafeMode({
    boots: { killed: undefined, unclean: [1, 2, 3], ended: full, forgive: full },
    isForbidden: false,
    stateDir,
    clock: { now: () => 4, monotonic: () => 4 },
    setTimeout: () => ({ dispose: () => undefined }),
    logger: createLogger([({ message }) => logs.push(message)]),
  });
  let isUp = false;
  safeMode.watch(async () => {
    isUp = true;
  });

  expect(await safeMode.leave("somebody asked")).toBe(true);

  expect(isUp).toBe(true);
  expect(logs).toContain("the crash count could not be reset after safe mode; the crashes still count");
});

test("a notice that is still being written when safe mode is left is gone afterwards", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-safe-mode-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const done = () => Promise.resolve();
  const safeMode = createSafeMode({
    boots: { unclean: [1, 2, 3], killed: undefined, ended: done, forgive: done },
    isForbidden: false,
    stateDir,
    clock: { now: () => 4, monotonic: () => 4 },
    setTimeout: () => ({ dispose: () => undefined }),
    logger: createLogger([]),
  });
  safeMode.watch(async () => undefined);
  await safeMode.leave("somebody asked");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(existsSync(join(stateDir, "gateway", "notices", "boot-crash-loop.json"))).toBe(false);
});
