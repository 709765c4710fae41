import { expect, test } from "vitest";
import { createCommitQueue, queueLimits } from "./commit-queue.ts";
import type { WriteOp } from "./operations.ts";

const op = (bytes = 10): WriteOp => ({ op: "kv.put", scope: "s", key: "k", value: "x".repeat(bytes), ifAbsent: false, ifVersion: null });
const limits = { ...queueLimits, groupOps: 4, groupBytes: 1_000, waitingOps: 8, waitingBytes: 5_000 };
const lengths = (group: Array<{ ops: WriteOp[] }>) => group.map((pending) => pending.ops.length);

test("a group takes commits in order up to its number of operations, and never splits one", () => {
  const queue = createCommitQueue(limits);
  for (const length of [2, 2, 1, 3]) void queue.add(Array.from({ length }, () => op()));

  expect(lengths(queue.takeGroup())).toEqual([2, 2]);
  expect(lengths(queue.takeGroup())).toEqual([1, 3]);
  expect(lengths(queue.takeGroup())).toEqual([]);
});

test("a group ends before its bytes are over the limit; one that is larger by itself goes alone", () => {
  const queue = createCommitQueue(limits);
  for (const bytes of [400, 400, 400, 3_000]) void queue.add([op(bytes)]);

  expect(lengths(queue.takeGroup())).toEqual([1, 1]);
  expect(lengths(queue.takeGroup())).toEqual([1]);
  expect(lengths(queue.takeGroup())).toEqual([1]);
});

test("what was taken still counts until it is settled", async () => {
  const queue = createCommitQueue(limits);
  const adding = queue.add(Array.from({ length: 8 }, () => op()));
  const [taken] = queue.takeGroup();

  await expect(queue.add([])).rejects.toMatchObject({ code: "storage-busy" });
  taken?.settle({ results: [] });
  await adding;

  expect(queue.queuedOps).toBe(0);
  void queue.add([]);
  expect(queue.queuedOps).toBe(1);
});

test("the bytes that wait are bounded too", async () => {
  const queue = createCommitQueue(limits);
  void queue.add([op(4_000)]);

  await expect(queue.add([op(1_000)])).rejects.toMatchObject({ code: "storage-busy" });
  await expect(queue.add([op(6_000)])).rejects.toMatchObject({ code: "store-invalid-op" });
});
