import { expect, onTestFinished, test } from "vitest";
import { createGroupCommit } from "./group-commit.ts";
import { openConnection } from "./native.ts";
import { openDatabase } from "./open-database.ts";
import { encodeOp } from "./operations.ts";
import { schemaSteps } from "./schema.ts";
import { isLocked } from "./sqlite-fault.ts";
import { append, session, tempStore } from "./testing/temp-store.ts";

async function openGroup() {
  const temp = tempStore(onTestFinished);
  const visited: string[] = [];
  const { db } = await openDatabase({ path: temp.path, steps: schemaSteps, visit: () => undefined, now: 1 });
  onTestFinished(() => void db.close());
  return { temp, db, visited, group: createGroupCommit(db, (point) => visited.push(point)) };
}

test("one group is one transaction, with the failpoints in their order", async () => {
  const { group, visited } = await openGroup();

  const outcomes = group.run([
    [encodeOp(append("a"))],
    [encodeOp({ op: "session.patch", key: "nobody", patch: {} })],
    [encodeOp(append("b"))],
  ]);

  expect(outcomes).toEqual([
    { results: [{ seq: 1 }] },
    { refused: { code: "session-missing", fields: { key: "nobody" } } },
    { results: [{ seq: 2 }] },
  ]);
  expect(visited).toEqual([
    "store.before-begin",
    "store.after-ops",
    "store.after-ops",
    "store.after-ops",
    "store.before-commit",
    "store.after-commit",
  ]);
});

test("nobody sees a part of a group: another connection reads all of it or nothing", async () => {
  const { temp, db } = await openGroup();
  const other = await openConnection(temp.path, { readonly: true });
  onTestFinished(() => void other.close());
  const count = other.prepare("SELECT count(*) FROM messages").pluck();
  const seen: unknown[] = [];
  const group = createGroupCommit(db, () => seen.push(count.get()));

  group.run([[encodeOp(append("a"))], [encodeOp(append("b"))]]);

  expect(seen).toEqual([0, 0, 0, 0, 2]);
});

test("while another process holds the lock the whole group fails as locked, and the next one is written", async () => {
  const { temp, db, group } = await openGroup();
  db.pragma("busy_timeout = 0");
  const other = await openConnection(temp.path, {});
  onTestFinished(() => void other.close());
  other.exec("BEGIN IMMEDIATE");
  const write = () => group.run([[encodeOp({ op: "session.put", session: session("k") })]]);

  expect(write).toThrowError(expect.toSatisfy(isLocked));
  other.exec("ROLLBACK");

  expect(write()).toEqual([{ results: [{}] }]);
});
