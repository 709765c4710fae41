import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { processStartTime } from "../../sdk/process-owner.ts";
import { acquireStateLock, readLockOwner, stateLockPath } from "./lock.ts";

let stateDir: string;
let path: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-lock-"));
  path = stateLockPath(stateDir);
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

const acquire = (waitMs: number) => acquireStateLock({ configPath: "/c/svc.json", stateDir, port: 18_789, version: "1.0.0" }, waitMs);
const content = async () => JSON.parse(await readFile(path, "utf8"));

async function leave(text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
const record = (pid: number, startTime: string | null) =>
  JSON.stringify({ pid, startTime, createdAt: 1, configPath: "/c", stateDir, port: 1, version: "1" });

test("a lock tells who holds it, for the owner's eyes only, and is gone after its release", async () => {
  const lock = await acquire(0);
  expect(await content()).toEqual({
    pid: process.pid,
    startTime: processStartTime(process.pid),
    createdAt: expect.any(Number),
    configPath: "/c/svc.json",
    stateDir,
    port: 18_789,
    version: "1.0.0",
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
  expect(await readLockOwner(stateDir)).toMatchObject({ pid: process.pid });

  await lock.update({ port: 4711 });
  expect((await content()).port).toBe(4711);

  await lock.release();
  await lock.release();
  expect(await readdir(dirname(path))).toEqual([]);
  expect(await readLockOwner(stateDir)).toBeUndefined();
});

describe("a living owner", () => {
  test("is named after the wait, and keeps its lock", async () => {
    const lock = await acquire(0);
    await expect(acquire(120)).rejects.toMatchObject({
      code: "lock-held",
      spec: { exit: 78 },
      message: `gateway already running (pid ${process.pid}); lock timeout after 120ms; stop it or use another SVC_STATE_DIR`,
    });
    expect(await readLockOwner(stateDir)).toMatchObject({ pid: process.pid });
    await lock.release();
  });

  test("that lets go in time makes room", async () => {
    const lock = await acquire(0);
    const next = acquire(5_000);
    await lock.release();
    await (await next).release();
  });

  test("may be another process", async () => {
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    await once(other, "spawn");
    const pid = other.pid as number;
    await leave(record(pid, processStartTime(pid)));
    await expect(acquire(0)).rejects.toMatchObject({ code: "lock-held", fields: { pid } });

    other.kill("SIGKILL");
    await once(other, "exit");

    await (await acquire(0)).release();
  });

  test("whose start time nobody could read is believed", async () => {
    await leave(record(process.pid, null));
    await expect(acquire(0)).rejects.toMatchObject({ code: "lock-held" });
  });
});

describe("a leftover is reclaimed silently when", () => {
  test("its owner is dead", async () => {
    const other = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    await once(other, "exit");
    await leave(record(other.pid as number, "1"));
    expect(await readLockOwner(stateDir)).toBeUndefined();
    await (await acquire(0)).release();
  });

  test("its owner's pid belongs to another process by now, where the system tells start times", async () => {
    await leave(record(process.pid, "1"));
    expect((await readLockOwner(stateDir)) === undefined).toBe(process.platform === "linux");
  });

  test.each(["", "{", "null", "{}", "[]", '{"pid":0}', '{"pid":-1}', '{"pid":"12"}', '{"pid":1.5}'])(
    "it does not say whose it is: %j",
    async (text) => {
      await leave(text);
      await (await acquire(0)).release();
      expect(await readdir(dirname(path))).toEqual([]);
    },
  );

  test("many find it at nearly the same moment, and then exactly one of them has the lock", async () => {
    const later = async (turns: number) => {
      for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
      return acquire(0);
    };
    for (let round = 0; round < 15; round++) {
      await leave(record(process.pid, "1"));
      const tries = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => later(i)));
      const got = tries.flatMap((t) => (t.status === "fulfilled" ? [t.value] : []));
      expect(got).toHaveLength(1);
      await got[0]?.release();
      expect(await readdir(dirname(path))).toEqual([]);
    }
  });

  test("somebody crashed while reclaiming it", async () => {
    await leave(record(process.pid, "1"));
    await writeFile(`${path}.reclaim`, "");
    await utimes(`${path}.reclaim`, 0, 0);
    await (await acquire(0)).release();
    expect(await readdir(dirname(path))).toEqual([]);
  });
});

describe("what stands in the place of a lock and is none", () => {
  beforeEach(() => mkdir(dirname(path), { recursive: true }));

  test("goes: a link that leads nowhere", async () => {
    await symlink(join(stateDir, "nowhere"), path);
    await (await acquire(0)).release();
    expect(await readdir(dirname(path))).toEqual([]);
  });

  test("goes: a FIFO that nobody writes to", async () => {
    execFileSync("mkfifo", [path]);
    await (await acquire(0)).release();
  });

  test("is named when it cannot go: a folder", async () => {
    await mkdir(path);
    await expect(acquire(0)).rejects.toMatchObject({ code: "lock-unusable", spec: { exit: 78 }, message: expect.stringContaining(path) });
    expect((await stat(path)).isDirectory()).toBe(true);
  });

  test("does not hold a start up for ever: the right to reclaim it, left by a clock that was ahead", async () => {
    await leave(record(process.pid, "1"));
    await writeFile(`${path}.reclaim`, "");
    await utimes(`${path}.reclaim`, 4e9, 4e9);
    await (await acquire(0)).release();
    expect(await readdir(dirname(path))).toEqual([]);
  });
});

test("a release leaves the lock of a later owner alone", async () => {
  const lock = await acquire(0);
  await leave(record(1, "7"));
  await lock.release();
  expect((await content()).pid).toBe(1);
});

describe("a lock that is kept", () => {
  test.each([
    ["removed", () => rm(path)],
    ["removed with its folder", () => rm(dirname(path), { recursive: true })],
    ["cut to nothing", () => truncate(path)],
    ["a dead owner's", () => writeFile(path, record(2 ** 22 - 1, "1"))],
  ])("is written again when it was %s", async (_, damage) => {
    const lock = await acquire(0);
    const before = await content();
    expect(await lock.keep()).toBe("kept");
    await damage();

    expect(await lock.keep()).toBe("restored");

    expect(await content()).toEqual(before);
    await expect(acquire(0)).rejects.toMatchObject({ code: "lock-held" });
  });

  test("names the living process that has taken it, and leaves it alone", async () => {
    const lock = await acquire(0);
    const taken = record(process.ppid, processStartTime(process.ppid));
    await writeFile(path, taken);

    expect(await lock.keep()).toMatchObject({ pid: process.ppid });
    expect(await readFile(path, "utf8")).toBe(taken);
  });

  test("is not written again after its release", async () => {
    const lock = await acquire(0);
    await lock.release();

    expect(await lock.keep()).toBe("kept");
    expect(await readdir(dirname(path))).toEqual([]);
  });
});
