import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { termCounts } from "./term-counts.ts";

test("a number is kept until something is written, by this connection or another", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-counts-"));
  const [db, other] = [1, 2].map(() => new Sqlite(join(folder, "index.sqlite"))) as [Sqlite.Database, Sqlite.Database];
  onTestFinished(() => {
    db.close();
    other.close();
    rmSync(folder, { recursive: true });
  });
  db.exec("CREATE TABLE t(a)");
  let asked = 0;
  const read = () => {
    asked++;
    return db.prepare("SELECT count(*) FROM t").pluck().get();
  };
  const rows = () => termCounts(db)("rows", read);

  expect([rows(), rows(), asked]).toEqual([0, 0, 1]);
  db.exec("INSERT INTO t VALUES (1)");
  expect([rows(), rows(), asked]).toEqual([1, 1, 2]);
  other.exec("INSERT INTO t VALUES (2)");
  expect([rows(), rows(), asked]).toEqual([2, 2, 3]);
  db.exec("BEGIN; INSERT INTO t VALUES (3)");
  expect([rows(), rows(), asked]).toEqual([3, 3, 5]);
  db.exec("ROLLBACK");
  expect([rows(), asked]).toEqual([2, 6]);
});

test("numbers are bounded, and each term has its own", () => {
  const db = new Sqlite(":memory:");
  const count = termCounts(db);
  for (let i = 0; i < 5_000; i++) expect(count(`word ${i}`, () => i)).toBe(i);
  expect(count("word 4999", () => -1)).toBe(4_999);
  expect(count("word 1", () => -1)).toBe(-1);
  db.close();
});
