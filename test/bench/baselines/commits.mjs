/**
 * The least that could store durably: one table, one writer thread, whatever waited is the next transaction.
 * `node commits.mjs <database> <callers> <total>`
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { measureCommits } from "../lib/commits.mjs";

if (isMainThread) await main(process.argv.slice(2));
else serve(workerData);

async function main([path, callers, total]) {
  const worker = new Worker(new URL(import.meta.url), { workerData: path });
  const waiting = new Map();
  worker.on("message", (ids) => {
    for (const id of ids) {
      waiting.get(id)();
      waiting.delete(id);
    }
  });
  const result = await measureCommits(Number(callers), Number(total), (i) => {
    const done = new Promise((resolve) => waiting.set(i, resolve));
    worker.postMessage({ id: i, body: JSON.stringify({ text: `message ${i} ${"x".repeat(200)}` }) });
    return done;
  });
  await worker.terminate();
  const stored = new Database(path, { readonly: true }).prepare("SELECT count(*) AS n FROM log").get().n;
  if (stored !== Number(total)) throw new Error(`${stored} of ${total} rows are stored`);
  console.log(JSON.stringify(result));
}

function serve(path) {
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE log(id INTEGER PRIMARY KEY, body TEXT)");
  const insert = db.prepare("INSERT INTO log VALUES (?, ?)");
  const commit = db.transaction((rows) => {
    for (const row of rows) insert.run(row.id, row.body);
  });
  const queue = [];
  const flush = () => {
    const rows = queue.splice(0, 1_000);
    commit(rows);
    parentPort.postMessage(rows.map((row) => row.id));
    if (queue.length > 0) setImmediate(flush);
  };
  parentPort.on("message", (row) => {
    queue.push(row);
    if (queue.length === 1) setImmediate(flush);
  });
}
