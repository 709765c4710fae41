import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestIndex, type TestIndex } from "../test-index.ts";
import { createPacer } from "./pacer.ts";
import { createWriteQueue } from "./writing.ts";

let index: TestIndex;
const pacer = createPacer(new AbortController().signal);
beforeEach(() => {
  index = createTestIndex();
});
afterEach(() => index.close());

const insert = (id: string) => index.db.prepare("INSERT INTO chunks(id, path, source, text) VALUES (?, 'a.md', 'memory', 'x')").run(id);
const ids = () => index.db.prepare("SELECT id FROM chunks ORDER BY id").pluck().all();

test("what is queued together is committed together, or not at all, vectors included", async () => {
  const queue = createWriteQueue(index, pacer);
  const told: string[] = [];
  queue.add({
    rows: 1,
    run: () => {
      const { lastInsertRowid } = insert("a");
      index.vectors.put(Number(lastInsertRowid), "memory", Float32Array.of(1, 0));
      return [];
    },
    done: () => void told.push("a"),
  });
  queue.add({
    rows: 1,
    run: () => {
      throw new Error("broken");
    },
  });
  await expect(queue.flush()).rejects.toThrow("broken");
  expect([ids(), told, index.db.inTransaction, index.vectors.dims]).toEqual([[], [], false, undefined]);
  expect(await index.vectors.search(Float32Array.of(1, 0), 5, ["memory"])).toEqual([]);
});

test("after a failure the queue is of no use: nothing is written behind the back of whoever was told", async () => {
  const queue = createWriteQueue(index, pacer);
  queue.add({ rows: 1, run: () => [insert("a"), insert("a")] });
  await expect(queue.flush()).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT_UNIQUE" });
  queue.add({ rows: 1, run: () => [insert("b")] });
  await expect(queue.flush()).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT_UNIQUE" });
  expect(ids()).toEqual([]);
});

test("two queues of one index take turns, however long a transaction is", async () => {
  const slow = { breathe: () => new Promise<void>((resolve) => setImmediate(resolve)) };
  const write = (name: string) => {
    const queue = createWriteQueue(index, slow);
    const run = function* () {
      for (let i = 0; i < 5; i++) {
        insert(`${name}${i}`);
        yield;
      }
    };
    queue.add({ rows: 5, run });
    return queue.flush();
  };
  await Promise.all([write("a"), write("b"), write("c")]);
  expect(ids()).toHaveLength(15);
});
