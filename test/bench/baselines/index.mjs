/**
 * The least that could index: read, cut, hash, insert. `node index.mjs <workspace> <database>` prints `{ms, chunks}`.
 * No change detection, no headings, no worker, no progress.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

const chunkChars = 1_600;
const overlapChars = 320;
const filesPerTransaction = 200;

const [workspace, path] = process.argv.slice(2);
rmSync(path, { force: true });
const started = performance.now();
const db = new Database(path);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = NORMAL");
db.exec(
  "CREATE TABLE chunks(id INTEGER PRIMARY KEY, path TEXT, hash TEXT, text TEXT); CREATE VIRTUAL TABLE fts USING fts5(text, content='')",
);
const insert = db.prepare("INSERT INTO chunks(path, hash, text) VALUES (?, ?, ?)");
const insertText = db.prepare("INSERT INTO fts(rowid, text) VALUES (?, ?)");

const files = readdirSync(join(workspace, "memory"), { recursive: true }).filter((file) => file.endsWith(".md"));
let chunks = 0;
const write = db.transaction((batch) => {
  for (const file of batch) {
    for (const text of cut(readFileSync(join(workspace, "memory", file), "utf8"))) {
      const { lastInsertRowid } = insert.run(file, createHash("sha256").update(text).digest("hex"), text);
      insertText.run(lastInsertRowid, text);
      chunks += 1;
    }
  }
});
for (let i = 0; i < files.length; i += filesPerTransaction) write(files.slice(i, i + filesPerTransaction));
db.pragma("wal_checkpoint(TRUNCATE)");
db.close();
console.log(JSON.stringify({ ms: performance.now() - started, chunks }));

function cut(text) {
  const parts = [];
  let at = 0;
  for (;;) {
    let end = Math.min(at + chunkChars, text.length);
    if (end < text.length) end = Math.max(text.lastIndexOf("\n", end), at + overlapChars + 1);
    parts.push(text.slice(at, end));
    if (end >= text.length) return parts;
    at = end - overlapChars;
  }
}
