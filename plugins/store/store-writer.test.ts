import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger, SvcError } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { queueLimits } from "./commit-queue.ts";
import { StoreWriter } from "./store-writer.ts";
import { until } from "./testing/temp-store.ts";
import type { WriterReply, WriterRequest } from "./writer-messages.ts";
import type { WriterThread } from "./writer-thread.ts";

const quiet: Logger = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};

type Answer = WriterReply | "stored" | "gone";

/** An open writer whose thread answers when the test says so; probes, and the first maintenance, by themselves. */
async function heldWriter({ probe = () => true, probeMs = 1 }: { probe?: () => boolean; probeMs?: number } = {}) {
  const asked: Array<{ request: WriterRequest; answer(reply: Answer): void }> = [];
  const statuses: Array<string | undefined> = [];
  const ends: Array<(error: SvcError) => void> = [];
  let isFirstMaintenance = true;
  let period = (): void => undefined;
  const startThread = (_setup: unknown, onDown: (error: SvcError) => void): WriterThread => {
    ends.push(onDown);
    return {
      request(request) {
        if (request.type === "open") return Promise.resolve({ type: "opened", files: { database: { dev: 1, ino: 1 }, log: undefined } });
        if (request.type === "close") return Promise.resolve({ type: "closed" });
        if (request.type === "probe")
          return Promise.resolve(probe() ? { type: "healthy" } : { type: "failed", fault: "full", message: "full" });
        if (request.type === "maintain" && isFirstMaintenance) {
          isFirstMaintenance = false;
          return Promise.resolve({ type: "maintained", more: false });
        }
        return new Promise((resolve, reject) =>
          asked.push({
            request,
            answer(reply) {
              if (reply === "gone") return reject(new Error("the thread ended"));
              const outcomes = request.type === "group" ? request.commits.map(() => ({ results: [] })) : [];
              resolve(reply === "stored" ? { type: "group", outcomes } : reply);
            },
          }),
        );
      },
      terminate: async () => undefined,
    };
  };
  const folder = await mkdtemp(join(tmpdir(), "svc-held-writer-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const writer = new StoreWriter({
    path: join(folder, "state.sqlite"),
    clock: { now: () => 42, monotonic: () => 0 },
    logger: quiet,
    onStatus: () => statuses.push(writer.reason),
    onStored: () => undefined,
    onRestarted: () => statuses.push("restarted"),
    onMoved: () => undefined,
    limits: queueLimits,
    probeMs,
    restartMs: 1,
    maintenanceMs: 20,
    timers: {
      setInterval(fn) {
        period = fn;
        return { dispose: () => undefined };
      },
    },
    setup: {},
    startThread,
  });
  await writer.open();
  await settled();
  onTestFinished(() => writer.close(() => undefined));
  return {
    writer,
    statuses,
    passPeriod: () => period(),
    endThread: (error: SvcError) => ends.at(-1)?.(error),
    sizes: () => asked.map(({ request }) => (request.type === "group" ? request.commits.length : request.type)),
    async answer(reply: Answer) {
      await settled();
      asked.at(-1)?.answer(reply);
      await settled();
    },
  };
}

/** After every microtask that is due. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const ended = Object.assign(new Error("the thread ended"), { name: "SvcError", code: "worker-down" }) as SvcError;

test("commits of one stretch travel together; those that come while a transaction runs are the next one", async () => {
  const held = await heldWriter();
  const first = [held.writer.commit([]), held.writer.commit([]), held.writer.commit([])];
  await settled();
  const second = [held.writer.commit([]), held.writer.commit([])];
  await settled();
  expect(held.sizes()).toEqual([3]);

  await held.answer("stored");
  expect(held.sizes()).toEqual([3, 2]);
  await Promise.all(first);
  const third = held.writer.commit([]);
  await held.answer("stored");
  await Promise.all(second);
  await held.answer("stored");
  await third;

  expect(held.sizes()).toEqual([3, 2, 1]);
});

test("maintenance and commits take turns", async () => {
  const held = await heldWriter();
  held.passPeriod();
  await until(() => held.sizes().length === 1, "maintenance");
  for (let n = 0; n < 2; n += 1) void held.writer.commit([]);
  await held.answer({ type: "maintained", more: true });
  await held.answer("stored");
  void held.writer.commit([]);
  await held.answer({ type: "maintained", more: true });
  await held.answer("stored");
  await held.answer({ type: "maintained", more: false });

  expect(held.sizes().slice(0, 5)).toEqual(["maintain", 2, "maintain", 1, "maintain"]);
});

test("without an answer the group fails as unavailable because the worker is down", async () => {
  const held = await heldWriter();
  const failed = expect(held.writer.commit([])).rejects.toMatchObject({
    code: "storage-unavailable",
    fields: { reason: "down" },
    cause: { code: "worker-down" },
  });

  await held.answer("gone");

  await failed;
});

test("a lock of another process makes the group busy, not the store unavailable", async () => {
  const held = await heldWriter();
  const failed = expect(held.writer.commit([])).rejects.toMatchObject({ code: "storage-busy" });

  await held.answer({ type: "failed", fault: "locked", message: "database is locked" });

  await failed;
  expect(held.writer.reason).toBeUndefined();
});

test("a faulty disk is probed until it takes a write; meanwhile what waits fails, and nothing is taken or sent", async () => {
  let probes = 0;
  const held = await heldWriter({ probe: () => ++probes === 3 });
  const first = expect(held.writer.commit([])).rejects.toMatchObject({ fields: { reason: "full" } });
  await settled();
  const waiting = expect(held.writer.commit([])).rejects.toMatchObject({ fields: { reason: "full" } });

  await held.answer({ type: "failed", fault: "full", message: "database or disk is full" });
  await Promise.all([first, waiting]);
  await until(() => held.writer.reason === undefined, "healed");

  expect(probes).toBe(3);
  expect(held.sizes()).toEqual([1]);
  expect(held.statuses.at(0)).toBe("full");
  expect(held.statuses.at(-1)).toBeUndefined();
});

test("while the disk is faulty a commit is refused at once", async () => {
  const held = await heldWriter({ probe: () => false });
  const failed = expect(held.writer.commit([])).rejects.toThrow();
  await held.answer({ type: "failed", fault: "readonly", message: "readonly" });
  await failed;

  await expect(held.writer.commit([])).rejects.toMatchObject({ code: "storage-unavailable" });
  expect(held.sizes()).toEqual([1]);
});

test("a dead thread heals when another is up, not by probing", async () => {
  let probes = 0;
  const held = await heldWriter({
    probe: () => {
      probes += 1;
      return true;
    },
  });

  held.endThread(ended);
  expect(held.writer.reason).toBe("down");
  await until(() => held.statuses.includes("restarted"), "another thread");

  expect(held.statuses).toEqual(["down", undefined, "restarted"]);
  expect(probes).toBe(0);
});

test("damage stays until the next start, whatever happens after it", async () => {
  const held = await heldWriter();
  held.writer.reportDamage(new Error("malformed"));

  held.endThread(ended);
  await until(() => held.statuses.includes("restarted"), "another thread");

  expect(held.writer.reason).toBe("corrupt");
  await expect(held.writer.commit([])).rejects.toMatchObject({ fields: { reason: "corrupt" } });
});

test("a close writes what waits, refuses what comes, and is the same when it is asked for twice", async () => {
  const held = await heldWriter();
  const waiting = held.writer.commit([]);
  await settled();
  const finished: string[] = [];
  const closed = held.writer.close(() => void finished.push("once"));
  expect(held.writer.close(() => void finished.push("twice"))).toBe(closed);

  await expect(held.writer.commit([])).rejects.toMatchObject({ fields: { reason: "closed" } });
  await held.answer("stored");

  await expect(waiting).resolves.toEqual([]);
  await closed;
  expect(finished).toEqual(["once"]);
});
