import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isUnderLaunchd, supervisedExitCode, trimServiceLogs } from "./supervisor.ts";

test.each([
  [78, "ai.svc.gateway", 0],
  [78, "ai.svc.work", 0],
  [75, "ai.svc.gateway", 75],
  [1, "ai.svc.gateway", 1],
  [78, "svc-gateway", 78],
  [78, undefined, 78],
])("code %i under %s ends the process with %i", (code, SVC_SERVICE_MARKER, exit) => {
  expect(supervisedExitCode(code, { SVC_SERVICE_MARKER })).toBe(exit);
});

test("a blank marker is none", () => {
  expect(isUnderLaunchd({ SVC_SERVICE_MARKER: " " })).toBe(false);
});

test("the logs of launchd keep their last whole lines, and a short or missing one is left alone", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "svc-service-logs-"));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  await mkdir(join(stateDir, "logs"));
  await writeFile(join(stateDir, "logs/service.err.log"), "first\nsecond\nthird\n");
  await trimServiceLogs(stateDir, 14);
  const kept = () => readFile(join(stateDir, "logs/service.err.log"), "utf8");
  expect(await kept()).toBe("second\nthird\n");
  await trimServiceLogs(stateDir, 12);
  expect(await kept()).toBe("third\n");
  await trimServiceLogs(stateDir, 12);
  expect(await kept()).toBe("third\n");
});
