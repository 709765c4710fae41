import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CliContext } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { newestError, refusalSince, waitForReady } from "./ready.ts";

const line = (ts: string, level: string, msg: string) => JSON.stringify({ ts, level, subsystem: "gateway", msg });

/** A command on a machine where no gateway runs and the log holds these lines. */
async function offline(lines: string[]) {
  const stateDir = await mkdtemp(join(tmpdir(), "svc-ready-"));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  await mkdir(join(stateDir, "gateway"));
  const signal = new AbortController().signal;
  const tail = async () => ({ lines });
  return {
    paths: { stateDir },
    signal,
    logs: { tail },
    config: async () => ({}),
    lockOwner: async () => undefined,
  } as unknown as CliContext;
}

const since = Date.parse("2026-03-01T12:00:00Z");

test("a gateway that does not become ready is reported with the newest error of this start", async () => {
  const cli = await offline([
    line("2026-03-01T11:59:00Z", "error", "of an earlier start"),
    line("2026-03-01T12:00:01Z", "error", "first"),
    line("2026-03-01T12:00:02Z", "fatal", "failed to bind gateway socket"),
    line("2026-03-01T12:00:03Z", "info", "not an error"),
    "not a line of svc",
  ]);
  expect(await newestError(cli, since)).toBe("failed to bind gateway socket");
  await expect(waitForReady(cli, { port: 1, since, limitMs: 0 })).rejects.toThrow(
    "is not ready: failed to bind gateway socket; see svc gateway status",
  );
});

test("without an error it is said that nothing answered", async () => {
  const cli = await offline([line("2026-03-01T11:59:00Z", "error", "of an earlier start")]);
  await expect(waitForReady(cli, { port: 1, since, limitMs: 0 })).rejects.toThrow("nothing answered on port 1 within 0 s");
});

test("a refusal of an earlier start is none of this one", async () => {
  const cli = await offline([]);
  const write = (ts: number) =>
    writeFile(join(cli.paths.stateDir, "gateway/last-refusal.json"), JSON.stringify({ ts, message: "blocked" }));
  await write(since - 1);
  expect(await refusalSince(cli, since)).toBeUndefined();
  await write(since);
  expect(await refusalSince(cli, since)).toBe("blocked");
});
