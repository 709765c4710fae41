import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { processStartTime } from "../../sdk/process-owner.ts";
import { withFileLock } from "./file-lock.ts";
import { createExclusive, removeStale } from "./lock.ts";

let dir: string;
let lock: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-file-lock-"));
  lock = join(dir, "a.lock");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const take = <T>(work: () => Promise<T>, waitMs = 0) =>
  withFileLock(lock, work, { waitMs, staleAfterMs: 0, busy: (owner) => Object.assign(new Error("busy"), { pid: owner?.pid }) });
const turns = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** Many want it at nearly the same time; how many were ever inside at once. */
async function crowd(rounds: number, before: () => Promise<void>): Promise<{ most: number; done: number }> {
  let [inside, most, done] = [0, 0, 0];
  const work = async () => {
    most = Math.max(most, ++inside);
    await turns(3);
    inside -= 1;
    done += 1;
  };
  for (let round = 0; round < rounds; round++) {
    await before();
    await Promise.all([1, 2, 3, 4, 5].map((n) => turns(n).then(() => take(work).catch(() => undefined))));
  }
  return { most, done };
}

describe("of many that want a lock at once", () => {
  test("one has it", async () => {
    expect(await crowd(60, async () => undefined)).toMatchObject({ most: 1 });
    expect(await readdir(dir)).toEqual([]);
  });

  test("one has it, also when it is a dead owner's", async () => {
    const dead = JSON.stringify({ pid: process.pid, startTime: "1", createdAt: 1 });
    const { most, done } = await crowd(60, () => writeFile(lock, process.platform === "linux" ? dead : ""));
    expect(most).toBe(1);
    expect(done).toBeGreaterThanOrEqual(60);
    expect(await readdir(dir)).toEqual([]);
  });

  test("all have it one after the other when they wait", async () => {
    let inside = 0;
    const work = async () => {
      expect(++inside).toBe(1);
      await turns(2);
      inside -= 1;
    };
    await Promise.all([1, 2, 3, 4].map(() => take(work, 10_000)));
    expect(await readdir(dir)).toEqual([]);
  });
});

test("who finds it held is told by whom", async () => {
  await take(async () => {
    await expect(take(async () => undefined)).rejects.toMatchObject({ message: "busy", pid: process.pid });
  });
});

test("only the own lock is given back", async () => {
  await take(() => writeFile(lock, JSON.stringify({ pid: 1, startTime: null, createdAt: 7 })));
  expect(JSON.parse(await readFile(lock, "utf8"))).toMatchObject({ pid: 1 });
});

test("a lock that was given back a moment ago is not a leftover: the next owner's stays", async () => {
  const next = { pid: process.pid, startTime: processStartTime(process.pid), createdAt: Date.now() };
  for (let round = 0; round < 200; round++) {
    // One process removes the stale lock while another takes it.
    await Promise.all([removeStale(lock, undefined), turns(round % 7).then(() => createExclusive(lock, next))]);
    expect(await readdir(dir)).toContain("a.lock");
    await rm(lock);
  }
});
