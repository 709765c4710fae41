import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { testNotes } from "../../../test/fixtures/dreams.ts";
import { removeStaleLock, staleLock, withDreamLock } from "./lock.ts";
import { repair } from "./repair.ts";

const LOCK = "memory/.dreams/short-term-promotion.lock";
const signal = new AbortController().signal;
/** Above every pid that Linux gives away. */
const DEAD = 4_194_305;

test("one holder at a time, named by pid and time, and nothing is left behind", async () => {
  const notes = testNotes();
  let inside = 0;
  const most: number[] = [];
  const work = async () => {
    inside += 1;
    most.push(inside);
    expect(notes.read(LOCK)).toMatch(new RegExp(`^${process.pid}:\\d{13}$`));
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all([1, 2, 3].map(() => withDreamLock(notes.root, { signal }, work)));
  expect(Math.max(...most)).toBe(1);
  expect(readdirSync(notes.path("memory/.dreams"))).toEqual([]);
});

test("a lock of a living process is waited for, and then named", async () => {
  const notes = testNotes({ [LOCK]: `1:${Date.now() - 3_600_000}` });
  const work = withDreamLock(notes.root, { signal, waitMs: 50 }, async () => undefined);
  await expect(work).rejects.toMatchObject({ code: "dream-locked", message: expect.stringContaining("held by process 1") });
  expect(existsSync(notes.path(LOCK))).toBe(true);
});

test("a lock of a dead process is taken over after a minute, and so is one with the pid that this process got after a restart", async () => {
  for (const pid of [DEAD, process.pid]) {
    const fresh = testNotes({ [LOCK]: `${pid}:${Date.now()}` });
    await expect(withDreamLock(fresh.root, { signal, waitMs: 50 }, async () => undefined)).rejects.toMatchObject({ code: "dream-locked" });
    const stale = testNotes({ [LOCK]: `${pid}:${Date.now() - 61_000}` });
    expect(await withDreamLock(stale.root, { signal, waitMs: 50 }, async () => "done")).toBe("done");
  }
});

test("the repair removes a stale lock, puts broken files aside and drops entries that are none", async () => {
  const notes = testNotes({
    [LOCK]: `${DEAD}:1`,
    "memory/.dreams/phase-signals.json": "{ no json",
    "memory/.dreams/short-term-recall.json": '{"entries":{"a":{}}}',
  });
  expect(await staleLock(notes.root, Date.now())).toEqual({ pid: DEAD });
  const done = await repair({ workspace: notes.root, agentIds: ["main"] }, { signal, nowMs: Date.now() });
  expect(done).toEqual([
    "removed the lock of a process that is gone",
    expect.stringMatching(/^put phase-signals\.json aside as phase-signals\.json\.broken-\d+$/),
    "removed 1 entries that could not be read",
  ]);
  expect(JSON.parse(notes.read("memory/.dreams/short-term-recall.json")).entries).toEqual({});
  expect(readdirSync(notes.path("memory/.dreams")).find((name) => name.includes("broken")) ?? "").toContain("phase-signals.json.broken-");
  expect(await removeStaleLock(notes.root, Date.now())).toBe(false);
});

test("a workspace that was never dreamed in is left as it is by the repair", async () => {
  const notes = testNotes({ "memory/a.md": "x" });
  expect(await repair({ workspace: notes.root, agentIds: ["main"] }, { signal, nowMs: Date.now() })).toEqual([]);
  expect(readdirSync(notes.path("memory"))).toEqual(["a.md"]);
});

test("a state folder that is a link is not followed", async () => {
  const outside = testNotes({ "x.txt": "outside" });
  const notes = testNotes();
  mkdirSync(notes.path("memory"));
  symlinkSync(outside.root, notes.path("memory/.dreams"));
  await expect(withDreamLock(notes.root, { signal }, async () => undefined)).rejects.toThrow(/ELOOP|ENOTDIR|symbolic|link/);
  expect(readdirSync(outside.root)).toEqual(["x.txt"]);
  expect(readFileSync(outside.path("x.txt"), "utf8")).toBe("outside");
});

test("a sweep waits for the lock of a dead process until it may be taken over", async () => {
  const notes = testNotes({ [LOCK]: `${DEAD}:${Date.now()}` });
  let passed = 0;
  // Each look at the clock is twenty seconds later.
  const nowMs = () => Date.now() + 20_000 * passed++;
  expect(await withDreamLock(notes.root, { signal, waitMs: 0, isPatient: true, nowMs }, async () => "done")).toBe("done");
});
