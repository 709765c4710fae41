import { expect, test } from "vitest";
import { createCommitQueue, queueLimits } from "./commit-queue.ts";
import type { StorageReason } from "./storage-unavailable.ts";
import type { WriterReply, WriterRequest } from "./writer-messages.ts";
import { createPump } from "./writer-pump.ts";

/** A pump whose writer answers when the test says so. */
function heldPump() {
  const queue = createCommitQueue(queueLimits);
  const asked: Array<{ request: WriterRequest; answer(reply: WriterReply | undefined): void }> = [];
  let blocked: StorageReason | undefined;
  const pump = createPump({
    queue,
    ask: (request) => new Promise((answer) => asked.push({ request, answer })),
    blocked: () => blocked,
    now: () => 42,
  });
  return {
    pump,
    commit() {
      const done = queue.add([]);
      pump.wake();
      return done;
    },
    block(reason: StorageReason) {
      blocked = reason;
    },
    sizes: () => asked.map(({ request }) => (request.type === "group" ? request.commits.length : request.type)),
    async answer(reply: WriterReply | undefined | "stored") {
      await settled();
      const last = asked.at(-1);
      const stored = last?.request.type === "group" ? last.request.commits.map(() => ({ results: [] })) : [];
      last?.answer(reply === "stored" ? { type: "group", outcomes: stored } : reply);
      await settled();
    },
  };
}

/** After every microtask that is due. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("commits of one stretch travel together; those that come while a transaction runs are the next one", async () => {
  const held = heldPump();
  const first = [held.commit(), held.commit(), held.commit()];
  await settled();
  const second = [held.commit(), held.commit()];
  await settled();
  expect(held.sizes()).toEqual([3]);

  await held.answer("stored");
  expect(held.sizes()).toEqual([3, 2]);
  await Promise.all(first);
  const third = held.commit();
  await held.answer("stored");
  await Promise.all(second);
  await held.answer("stored");
  await third;

  expect(held.sizes()).toEqual([3, 2, 1]);
});

test("maintenance and commits take turns", async () => {
  const held = heldPump();
  held.pump.wantMaintenance();
  await settled();
  for (let n = 0; n < 2; n += 1) void held.commit();
  await held.answer({ type: "maintained", more: true });
  await held.answer("stored");
  void held.commit();
  await held.answer({ type: "maintained", more: true });
  await held.answer("stored");
  await held.answer({ type: "maintained", more: false });

  expect(held.sizes()).toEqual(["maintain", 2, "maintain", 1, "maintain"]);
});

test("without an answer the group fails as unavailable because the worker is down", async () => {
  const held = heldPump();
  const lost = held.commit();
  const failed = expect(lost).rejects.toMatchObject({
    code: "storage-unavailable",
    fields: { reason: "down" },
    cause: { code: "worker-down" },
  });

  await held.answer(undefined);

  await failed;
});

test("a lock of another process makes the group busy, not the store unavailable", async () => {
  const held = heldPump();
  const locked = held.commit();
  const failed = expect(locked).rejects.toMatchObject({ code: "storage-busy" });

  await held.answer({ type: "failed", fault: "locked", message: "database is locked" });

  await failed;
});

test("while writing is impossible nothing is sent", async () => {
  const held = heldPump();
  held.block("full");
  void held.commit();
  await settled();

  expect(held.sizes()).toEqual([]);
});
