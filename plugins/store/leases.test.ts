import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLeases, leaseMs } from "./leases.ts";

let nowMs = 0;
let rows = new Map<string, number>();
let isReadable = true;
let nextToken = 0;

function book() {
  return createLeases({
    async commit(op) {
      if (op.op === "lease.acquire") rows.set(op.name, ++nextToken);
      if (op.op === "lease.release" && rows.get(op.name) === op.token) rows.delete(op.name);
      return [{ version: nextToken }];
    },
    tokens() {
      if (!isReadable) throw new Error("the database cannot be read");
      return new Map(rows);
    },
    clock: { monotonic: () => nowMs },
  });
}

/** Time passes, and the timers that are due run. */
function pass(ms: number): void {
  for (let left = ms; left > 0; left -= 1_000) {
    nowMs += Math.min(left, 1_000);
    vi.advanceTimersByTime(Math.min(left, 1_000));
  }
}

beforeEach(() => {
  nowMs = 0;
  rows = new Map();
  isReadable = true;
  nextToken = 0;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("a lease that can be renewed is held for as long as its holder likes", async () => {
  const lease = await book().acquire("role");

  pass(10 * leaseMs);

  expect(lease.lost.aborted).toBe(false);
});

test("a lease that could not be renewed for its whole time is lost, and its owner owns nothing", async () => {
  const leases = book();
  const lease = await leases.acquire("role", { owner: "b1" });

  isReadable = false;
  pass(leaseMs / 2);
  expect(lease.lost.aborted).toBe(false);
  expect(leases.owners()).toEqual(["b1"]);
  pass(leaseMs);

  expect(lease.lost.reason).toMatchObject({ code: "fenced" });
  expect(leases.owners()).toEqual([]);
});

test("a process that stood still for an hour renews first and loses nothing", async () => {
  const lease = await book().acquire("role");

  nowMs += 3_600_000;
  pass(leaseMs);

  expect(lease.lost.aborted).toBe(false);
});

test("a lease is lost when its row holds another token", async () => {
  const lease = await book().acquire("role");

  rows.set("role", 99);
  pass(leaseMs);

  expect(lease.lost.aborted).toBe(true);
});

test("the end of the store is the end of its leases, also of those that come too late", async () => {
  const leases = book();
  const early = await leases.acquire("role");
  const coming = leases.acquire("other role");

  leases.close();

  expect(early.lost.aborted).toBe(true);
  expect((await coming).lost.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("a name of 200 characters is a lease, one of 201 is refused, and so is none", async () => {
  const leases = book();

  await leases.acquire("x".repeat(200));

  await expect(leases.acquire("x".repeat(201))).rejects.toMatchObject({ code: "store-invalid-op" });
  await expect(leases.acquire("")).rejects.toMatchObject({ code: "store-invalid-op" });
});

test("1,000 leases are held at a time, and one more is refused until one is released", async () => {
  const leases = book();
  const held = await Promise.all(Array.from({ length: 1_000 }, (_, n) => leases.acquire(`role ${n}`)));

  await expect(leases.acquire("one more")).rejects.toMatchObject({ code: "storage-busy" });
  await held[0]?.release();

  expect((await leases.acquire("one more")).lost.aborted).toBe(false);
});
