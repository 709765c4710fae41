import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LogLevel } from "../../sdk/log-levels.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import { createLogFile, type LogFile, type LogFileSettings } from "./log-file.ts";
import { logFilePath } from "./log-path.ts";
import { createLogger } from "./logger.ts";

const DAY_MS = 86_400_000;
const noon = new Date(2026, 2, 10, 12).getTime();

let dir: string;
let opened: LogFile[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-log-"));
});
afterEach(async () => {
  await Promise.all(opened.map((file) => file.close()));
  opened = [];
  await rm(dir, { recursive: true, force: true });
});

function open(own: Partial<LogFileSettings> = {}) {
  const at = { ms: noon, monotonic: 0, level: "info" as LogLevel };
  const settings: LogFileSettings = { maxFileBytes: 1_000_000, maxFiles: 3, retentionDays: 7, ...own };
  const faults: string[] = [];
  const file = createLogFile({
    stateDir: dir,
    level: () => at.level,
    settings: () => settings,
    onFault: (message) => faults.push(message),
    monotonic: () => at.monotonic,
  });
  opened.push(file);
  return { at, settings, faults, file, logger: createLogger([file], () => at.ms) };
}

const messages = async (path: string): Promise<string[]> =>
  (await readFile(join(dir, path), "utf8"))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line).msg);
const written = (path: string, expected: string[]) =>
  eventually(async () => expect(await messages(path).catch(() => [])).toEqual(expected));
const mode = async (path: string) => (await stat(join(dir, path))).mode & 0o777;

describe("the log file", () => {
  test("is JSON lines in a file for each local day, for its owner only", async () => {
    const { at, file, logger } = open();
    at.ms = new Date(2026, 2, 1, 23, 59, 59).getTime();
    logger.debug("too fine");
    logger.info("before", { a: 1 });
    at.ms += 2_000;
    logger.error("after midnight\nsecond line");
    await file.close();

    expect(JSON.parse(await readFile(join(dir, "logs/gateway-2026-03-01.jsonl"), "utf8"))).toEqual({
      ts: new Date(2026, 2, 1, 23, 59, 59).toISOString(),
      level: "info",
      subsystem: "gateway",
      msg: "before",
      pid: process.pid,
      a: 1,
    });
    expect(await messages("logs/gateway-2026-03-02.jsonl")).toEqual(["after midnight\nsecond line"]);
    expect(await mode("logs")).toBe(0o700);
    for (const name of await readdir(join(dir, "logs"))) expect(await mode(join("logs", name))).toBe(0o600);
  });

  test("is the configured one, and another one from the line on where the config changes", async () => {
    const { settings, file, logger } = open({ file: join(dir, "own", "svc.log") });
    logger.info("one");
    settings.file = "relative.log";
    logger.info("two");
    settings.file = undefined;
    logger.info("three");
    await file.close();

    expect(await messages("own/svc.log")).toEqual(["one"]);
    expect(await messages("relative.log")).toEqual(["two"]);
    expect(await messages("logs/gateway-2026-03-10.jsonl")).toEqual(["three"]);
    expect(await mode("own/svc.log")).toBe(0o600);
  });

  test("is made again when somebody moved it away", async () => {
    const { logger } = open({ file: "svc.log" });
    logger.info("one");
    await written("svc.log", ["one"]);
    await rename(join(dir, "svc.log"), join(dir, "moved.log"));
    logger.info("two");
    await written("svc.log", ["two"]);
    expect(await messages("moved.log")).toEqual(["one"]);
  });

  test("follows a level that changes", async () => {
    const { at, file, logger } = open({ file: "svc.log" });
    at.level = "warn";
    logger.info("too early");
    at.level = "debug";
    logger.debug("just in time");
    at.level = "silent";
    logger.error("too late");
    await file.close();
    expect(await messages("svc.log")).toEqual(["just in time"]);
  });

  test("takes what is waiting when the process can wait for nothing", async () => {
    const { file, logger } = open({ file: "svc.log" });
    logger.info("one");
    logger.info("two");
    file.writeRest();
    expect(await messages("svc.log")).toEqual(["one", "two"]);
  });

  test("takes nothing after it is closed", async () => {
    const { file, logger } = open({ file: "svc.log" });
    logger.info("one");
    await file.close();
    logger.info("two");
    file.writeRest();
    expect(await messages("svc.log")).toEqual(["one"]);
  });
});

describe("a file that grew too large", () => {
  test("is put aside; so many of them are kept, and none is larger than allowed", async () => {
    const { file, logger } = open({ file: "svc.log", maxFileBytes: 1_000, maxFiles: 2 });
    for (let i = 0; i < 40; i++) logger.info(`m${i}`);
    await file.close();

    expect((await readdir(dir)).sort()).toEqual(["svc.log", "svc.log.1", "svc.log.2"]);
    const all = [...(await messages("svc.log.2")), ...(await messages("svc.log.1")), ...(await messages("svc.log"))];
    expect(all).toEqual(Array.from({ length: all.length }, (_, i) => `m${40 - all.length + i}`));
    for (const name of ["svc.log", "svc.log.1", "svc.log.2"]) {
      expect((await stat(join(dir, name))).size).toBeLessThanOrEqual(1_000);
      expect(await mode(name)).toBe(0o600);
    }
  });

  test("counts what is in it already, and a single line longer than allowed has a file of its own", async () => {
    await writeFile(join(dir, "svc.log"), "x".repeat(999));
    const { file, logger } = open({ file: "svc.log", maxFileBytes: 1_000 });
    logger.info("y".repeat(3_000));
    logger.info("next");
    await file.close();
    expect((await stat(join(dir, "svc.log.2"))).size).toBe(999);
    expect(await messages("svc.log.1")).toEqual(["y".repeat(3_000)]);
    expect(await messages("svc.log")).toEqual(["next"]);
  });
});

test("a first line that is too long puts nothing aside", async () => {
  await writeFile(join(dir, "svc.log.1"), "kept");
  const { file, logger } = open({ file: "svc.log", maxFileBytes: 1_000 });
  logger.info("y".repeat(3_000));
  await file.close();
  expect((await readdir(dir)).sort()).toEqual(["svc.log", "svc.log.1"]);
});

describe("old files", () => {
  const touch = async (path: string, ageDays: number) => {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), "x");
    const at = new Date(noon - ageDays * DAY_MS);
    await utimes(join(dir, path), at, at);
  };

  test("are deleted with the first line of a day: by the day in their name, or by their age; nothing else is", async () => {
    const foreign = ["logs/other.jsonl", "logs/gateway-2026-01-01.txt", "logs/gateway-2026-03-01.jsonl.bak", "svc.log.old"];
    const kept = ["logs/gateway-2026-03-03.jsonl", "logs/gateway-2026-03-09.jsonl.3", "svc.log.1"];
    const gone = ["logs/gateway-2026-03-02.jsonl", "logs/gateway-2025-12-31.jsonl.2", "logs/gateway-2026-03-09.jsonl.4", "svc.log.2"];
    for (const path of [...foreign, ...gone]) await touch(path, 30);
    for (const path of kept) await touch(path, 3);
    await symlink("other.jsonl", join(dir, "logs/gateway-2026-01-02.jsonl"));

    const { file, logger } = open({ file: "svc.log" });
    logger.info("today");
    await file.close();

    const left = [...(await readdir(dir)), ...(await readdir(join(dir, "logs"))).map((name) => `logs/${name}`)];
    expect(left.sort()).toEqual(["logs", "logs/gateway-2026-01-02.jsonl", "svc.log", ...foreign, ...kept].sort());
  });

  test("are judged by the newest of them when nothing was logged for three months: the clock may have gone ahead", async () => {
    const at = (ageDays: number) => `logs/gateway-${new Date(noon - ageDays * DAY_MS).toISOString().slice(0, 10)}.jsonl`;
    for (const ageDays of [365, 370, 375]) await touch(at(ageDays), ageDays);
    const { file, logger } = open();
    logger.info("a year ahead");
    await file.close();
    expect((await readdir(join(dir, "logs"))).map((name) => `logs/${name}`).sort()).toEqual([at(370), at(365), at(0)]);
  });

  test("are deleted, oldest first, when all together pass 500 MB", async () => {
    for (const [path, age] of [
      ["logs/gateway-2026-03-09.jsonl.1", 1],
      ["logs/gateway-2026-03-08.jsonl", 2],
      ["svc.log.1", 0.5],
    ] as const) {
      await touch(path, age);
      await truncate(join(dir, path), 200_000_000); // sparse: takes no room
      await utimes(join(dir, path), new Date(noon), new Date(noon - age * DAY_MS));
    }
    const { file, logger } = open({ file: "svc.log" });
    logger.info("today");
    await file.close();
    expect([...(await readdir(dir)), ...(await readdir(join(dir, "logs")))].sort()).toEqual([
      "gateway-2026-03-09.jsonl.1",
      "logs",
      "svc.log",
      "svc.log.1",
    ]);
  });

  test("are deleted as soon as fewer days are configured", async () => {
    await touch("logs/gateway-2026-03-07.jsonl", 3);
    const { settings, logger } = open();
    logger.info("one");
    await written("logs/gateway-2026-03-10.jsonl", ["one"]);
    settings.retentionDays = 2;
    logger.info("two");
    await eventually(async () => expect(await readdir(join(dir, "logs"))).toEqual(["gateway-2026-03-10.jsonl"]));
  });
});

describe("a file that cannot be written stops nobody", () => {
  test.each([
    ["a file stands in the way of the folder", () => writeFile(join(dir, "logs"), "x")],
    ["a folder stands in its place", () => mkdir(join(dir, "logs/gateway-2026-03-10.jsonl"), { recursive: true })],
  ])("%s: it is told once a minute, and tried again", async (_what, obstruct) => {
    await obstruct();
    const { at, faults, logger } = open();
    logger.info("one");
    await eventually(() => expect(faults).toHaveLength(1));
    expect(faults[0]).toContain("cannot be written");
    logger.info("two");
    at.monotonic = 60_000;
    await eventually(() => {
      logger.info("three");
      return faults.length === 2;
    });
    await rm(join(dir, "logs"), { recursive: true });
    logger.info("four");
    await eventually(async () => expect(await messages("logs/gateway-2026-03-10.jsonl").catch(() => [])).toContain("four"));
  });

  test("within the same minute it is told once", async () => {
    await mkdir(join(dir, "svc.log"));
    const { file, faults, logger } = open({ file: "svc.log" });
    logger.info("one");
    await eventually(() => faults.length === 1);
    logger.info("two");
    await file.close();
    expect(faults).toHaveLength(1);
  });

  test("more than can wait is dropped, and that is told", async () => {
    const { file, faults, logger } = open({ file: "svc.log", maxFileBytes: 500_000_000 });
    for (let i = 0; i < 150; i++) logger.info("x".repeat(60_000));
    await file.close();
    expect((await messages("svc.log")).length).toBeLessThan(150);
    expect(faults).toEqual([expect.stringContaining("lines lost")]);
  });
});

test("the file of a moment is that of its local day, unless one is configured", () => {
  const at = new Date(2026, 11, 31, 23, 59);
  expect(logFilePath("/state", undefined, at)).toBe(join("/state", "logs", "gateway-2026-12-31.jsonl"));
  expect(logFilePath("/state", "own.log", at)).toBe(join("/state", "own.log"));
  expect(logFilePath("/state", "/var/log/svc.log", at)).toBe("/var/log/svc.log");
});
