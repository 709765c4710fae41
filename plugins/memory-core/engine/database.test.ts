import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { createIndex, openIndex, writeIdentity } from "./database.ts";
import { identityOf } from "./identity.ts";

let ws: TestWorkspace;
let path: string;
beforeEach(() => {
  ws = createTestWorkspace();
  path = ws.settings.dbPath;
  mkdirSync(dirname(path), { recursive: true });
  const db = createIndex(path, ws.settings.tokenizer);
  writeIdentity(db, identityOf(ws.settings, "none"));
  db.close();
});
afterEach(() => ws.remove());

test("an index in use has a log, synchronises at checkpoints, and waits for other writers", () => {
  const opened = openIndex(path);

  expect(opened?.db.pragma("journal_mode", { simple: true })).toBe("wal");
  expect(opened?.db.pragma("synchronous", { simple: true })).toBe(1);
  expect(opened?.db.pragma("busy_timeout", { simple: true })).toBe(5_000);
  opened?.db.close();
});

test("an index of another version is none: it is built again, never migrated", () => {
  const raw = new Sqlite(path);
  writeIdentity(raw, { ...identityOf(ws.settings, "none"), schemaVersion: 1 });
  raw.close();

  expect(openIndex(path)).toBeUndefined();
});
