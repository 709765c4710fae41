/**
 * The least that could index: read, cut, hash, insert. `node index.mjs <workspace> <database> [base URL of a vendor]` prints `{ms, chunks}`.
 * With a vendor every chunk is embedded, too: 128 to a request, 4 requests at a time. No change detection, no headings, no worker, no progress.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import Database from "better-sqlite3";

const chunkChars = 1_600;
const overlapChars = 320;
const filesPerTransaction = 200;
const textsPerRequest = 128;
const inFlight = 4;

const [workspace, path, vendor] = process.argv.slice(2);
rmSync(path, { force: true });
const started = performance.now();
const db = new Database(path);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = NORMAL");
db.exec(
  "CREATE TABLE chunks(id INTEGER PRIMARY KEY, path TEXT, hash TEXT, text TEXT); CREATE VIRTUAL TABLE fts USING fts5(text, content=''); CREATE TABLE vectors(id INTEGER PRIMARY KEY, embedding BLOB)",
);
const insert = db.prepare("INSERT INTO chunks(path, hash, text) VALUES (?, ?, ?)");
const insertText = db.prepare("INSERT INTO fts(rowid, text) VALUES (?, ?)");

const files = readdirSync(join(workspace, "memory"), { recursive: true }).filter((file) => file.endsWith(".md"));
const insertVector = db.prepare("INSERT INTO vectors(id, embedding) VALUES (?, ?)");
const agent = new Agent({ keepAlive: true });
const waiting = [];
const running = new Set();
let chunks = 0;
const write = db.transaction((batch) => {
  for (const file of batch) {
    for (const text of cut(readFileSync(join(workspace, "memory", file), "utf8"))) {
      const { lastInsertRowid } = insert.run(file, createHash("sha256").update(text).digest("hex"), text);
      insertText.run(lastInsertRowid, text);
      if (vendor) waiting.push({ id: lastInsertRowid, text });
      chunks += 1;
    }
  }
});
for (let i = 0; i < files.length; i += filesPerTransaction) {
  write(files.slice(i, i + filesPerTransaction));
  while (waiting.length >= textsPerRequest) await send();
}
while (waiting.length > 0) await send();
await Promise.all(running);
agent.destroy();
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

/** Returns when there is room for another request. */
async function send() {
  const batch = waiting.splice(0, textsPerRequest);
  const done = embed(batch.map((one) => one.text)).then((found) => {
    db.transaction(() => {
      for (const [index, blob] of found.entries()) insertVector.run(batch[index].id, blob);
    })();
    running.delete(done);
  });
  running.add(done);
  if (running.size >= inFlight) await Promise.race(running);
}

function embed(input) {
  const body = JSON.stringify({ model: "bench", input, encoding_format: "base64" });
  return new Promise((resolve, reject) => {
    const call = request(`${vendor}/embeddings`, { method: "POST", agent, headers: { "content-type": "application/json" } }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => {
        const { data } = JSON.parse(Buffer.concat(parts).toString());
        resolve(data.map((one) => Buffer.from(one.embedding, "base64")));
      });
    });
    call.on("error", reject);
    call.end(body);
  });
}
