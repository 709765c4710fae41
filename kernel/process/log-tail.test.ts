import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { currentLogFile, tailLog } from "./log-tail.ts";

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-log-tail-"));
  file = join(dir, "a.jsonl");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const write = (...lines: string[]) => writeFile(file, lines.map((line) => `${line}\n`).join(""));

describe("without a cursor", () => {
  test("the newest lines are read, and the cursor stands behind them", async () => {
    await write("one", "two", "three");
    expect(await tailLog(file, {})).toEqual({ file, cursor: 14, size: 14, lines: ["one", "two", "three"], truncated: false, reset: false });
    expect(await tailLog(file, { limit: 2 })).toMatchObject({ cursor: 14, lines: ["two", "three"], truncated: true });
  });

  test("only whole lines of the last bytes are", async () => {
    await write("one", "two", "three");
    expect(await tailLog(file, { maxBytes: 10 })).toMatchObject({ lines: ["two", "three"], truncated: true });
    expect(await tailLog(file, { maxBytes: 9 })).toMatchObject({ lines: ["three"], truncated: true });
    expect(await tailLog(file, { maxBytes: 14 })).toMatchObject({ lines: ["one", "two", "three"], truncated: false });
  });

  test("nothing of a file that is not there", async () => {
    expect(await tailLog(file, {})).toEqual({ file, cursor: 0, size: 0, lines: [], truncated: false, reset: false });
    expect(await tailLog(file, { cursor: 7 })).toMatchObject({ cursor: 0, lines: [], reset: true });
  });
});

describe("with a cursor", () => {
  test("the lines behind it are read, and nothing twice", async () => {
    await write("one", "two");
    const { cursor } = await tailLog(file, {});
    expect(await tailLog(file, { cursor })).toMatchObject({ cursor, lines: [], truncated: false, reset: false });
    await appendFile(file, "three\nfour\n");
    expect(await tailLog(file, { cursor })).toMatchObject({ cursor: 19, lines: ["three", "four"], truncated: false });
  });

  test("a line that is being written waits for its end", async () => {
    await write("one");
    await appendFile(file, "tw");
    const first = await tailLog(file, {});
    expect(first).toMatchObject({ lines: ["one"], cursor: 4, size: 6 });
    await appendFile(file, "ö\n");
    expect(await tailLog(file, { cursor: first.cursor })).toMatchObject({ lines: ["twö"], cursor: 9 });
  });

  test("more than the limits is told, and comes with the next readings, without a gap", async () => {
    const all = Array.from({ length: 50 }, (_, i) => `line ${i}`);
    await write(...all);
    for (const limits of [{ limit: 7 }, { maxBytes: 31 }, { limit: 3, maxBytes: 100 }]) {
      const read: string[] = [];
      let cursor = 0;
      for (let more = true; more; ) {
        const tail = await tailLog(file, { cursor, ...limits });
        expect(tail.lines.length).toBeLessThanOrEqual(limits.limit ?? 50);
        read.push(...tail.lines);
        cursor = tail.cursor;
        more = tail.truncated;
      }
      expect(read).toEqual(all);
    }
  });

  test("beyond the end of a file that was put aside, the newest lines are read", async () => {
    await write("one", "two");
    expect(await tailLog(file, { cursor: 9 })).toMatchObject({ lines: ["one", "two"], cursor: 8, reset: true });
    expect(await tailLog(file, { cursor: 8 })).toMatchObject({ lines: [], reset: false });
  });

  test("in the middle of a line, the rest of it is left out", async () => {
    await write("one", "two");
    expect(await tailLog(file, { cursor: 1 })).toMatchObject({ lines: ["two"], truncated: true });
  });

  test("a line longer than a reading is passed over", async () => {
    await write("one", "x".repeat(100), "two");
    const read: string[] = [];
    let cursor = 0;
    for (let i = 0; i < 10; i++) {
      const tail = await tailLog(file, { cursor, maxBytes: 30 });
      read.push(...tail.lines);
      cursor = tail.cursor;
    }
    expect(read).toEqual(["one", "two"]);
    expect(await tailLog(file, { cursor })).toMatchObject({ lines: [], truncated: false });
  });
});

test("what is no regular file is not read", async () => {
  await expect(tailLog(dir, {})).rejects.toThrow();
  if (process.platform !== "win32") await expect(tailLog("/dev/null", {})).rejects.toThrow("no regular file");
});

describe("the log of now", () => {
  const at = new Date(2026, 2, 5, 12);
  const day = (name: string) => join(dir, "logs", `gateway-${name}.jsonl`);
  const put = async (...names: string[]) => {
    await mkdir(join(dir, "logs"), { recursive: true });
    for (const name of names) await writeFile(day(name), "{}\n");
  };

  test("is today's, and before today's first line that of the newest day", async () => {
    expect(await currentLogFile(dir, undefined, at)).toBe(day("2026-03-05"));
    await put("2026-02-28", "2026-03-04", "2026-03-06");
    await writeFile(`${day("2026-03-04")}.1`, "");
    expect(await currentLogFile(dir, undefined, at)).toBe(day("2026-03-04"));
    await put("2026-03-05");
    expect(await currentLogFile(dir, undefined, at)).toBe(day("2026-03-05"));
  });

  test("is the configured one, where one is", async () => {
    await put("2026-03-05");
    expect(await currentLogFile(dir, "own.log", at)).toBe(join(dir, "own.log"));
  });
});
