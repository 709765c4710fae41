/**
 * `node hybrid-search.mjs <chunks> <clustered|random> <rounds>`: an index of the product with that many passages and vectors, searched without a vendor.
 * Prints times of a hybrid search, of the exact search by `vec0` and of the scan over the float rows, in ms; recall@24 against the exact answer; MB.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import Database from "better-sqlite3";
import { importPart } from "../lib/part.mjs";
import { memoryMb } from "../lib/process.mjs";
import { seeded } from "../lib/stats.mjs";
import { vectors } from "../lib/vectors.mjs";

const [chunks, kind, rounds] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
const engine = "plugins/memory-core/engine";
const { schemaSql } = await importPart(`${engine}/schema.ts`);
const { createVectorStore } = await importPart(`${engine}/vectors/store.ts`);
const { scanRows } = await importPart(`${engine}/vectors/row-scan.ts`);
const { hybridSearch } = await importPart(`${engine}/hybrid-search.ts`);
const { createPacer } = await importPart(`${engine}/pacer.ts`);

const k = 24;
const sources = ["memory"];
const params = {
  maxResults: 6,
  minScore: 0.35,
  explicit: false,
  sources,
  candidateMultiplier: 4,
  maxSnippetChars: 700,
  hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
  mmr: { enabled: false, lambda: 0.7 },
  temporalDecay: { enabled: false, halfLifeDays: 30 },
};

const folder = mkdtempSync(join(tmpdir(), "svc-bench-vectors-"));
try {
  console.log(JSON.stringify(await measure()));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure() {
  const words = vocabulary();
  fill(words);
  const db = open();
  const store = createVectorStore(db, { vector: { enabled: true, extensionPath: undefined } });
  const queries = vectors(rounds, { seed: 5, clustered: kind === "clustered" });
  const before = memoryMb(process.pid).pss;
  const ask = (vector) =>
    hybridSearch(
      {
        open: () => ({ db, tokenizer: "unicode61", vectors: store, chunks }),
        vectors: { kind: "ready", embedQuery: async () => vector },
        deadlineMs: performance.now() + 60_000,
        now: Date.now,
        interim: () => undefined,
      },
      { ...params, query: Array.from({ length: 3 }, () => words.pick()).join(" ") },
    );
  const first = await timed(() => ask(queries[0]));
  // The extension answers a small index until the matrix is there; what is measured is the matrix.
  while (!store.isLoaded) await nextTurn();
  for (const vector of queries.slice(0, 10)) await ask(vector);
  const hybrid = [];
  for (const vector of queries) hybrid.push((await timed(() => ask(vector))).ms);
  const exact = db.prepare("SELECT chunk_id FROM chunks_vec WHERE embedding MATCH ? AND k = ? AND source IN ('memory')").pluck();
  const vec0 = [];
  let found = 0;
  for (const vector of queries) {
    const right = await timed(() => exact.all(Buffer.from(vector.buffer), k));
    vec0.push(right.ms);
    const rows = new Set((await store.search(vector, k, sources)).map((row) => row.rowid));
    found += right.value.filter((rowid) => rows.has(rowid)).length;
  }
  const { pss } = memoryMb(process.pid);
  const pacer = createPacer(new AbortController().signal);
  const scan = [];
  for (const query of queries.slice(0, 3))
    scan.push((await timed(() => scanRows(db, { query, k, sources, backend: "in-process" }, pacer))).ms);
  store.close();
  db.close();
  return { first: first.ms, hybrid, vec0, scan, recall: found / (k * queries.length), pss, matrixMb: pss - before };
}

async function timed(run) {
  const started = performance.now();
  const value = await run();
  return { value, ms: performance.now() - started };
}

function open() {
  const db = new Database(join(folder, "index.sqlite"));
  db.pragma("journal_mode = WAL");
  db.pragma("cache_size = -16384");
  return db;
}

/** Passages of 200 words, a few of which are in every passage and most in few. */
function fill(words) {
  const db = new Database(join(folder, "index.sqlite"));
  db.pragma("page_size = 8192");
  db.pragma("journal_mode = OFF");
  db.pragma("synchronous = OFF");
  db.exec(schemaSql("unicode61"));
  const store = createVectorStore(db, { vector: { enabled: true, extensionPath: undefined } });
  const chunk = db.prepare(
    "INSERT INTO chunks(rowid, id, path, source, start_line, end_line, hash, model, text, updated_at, trail, pending) VALUES (?, ?, ?, 'memory', 1, 9, '', '', ?, 0, '', 0)",
  );
  const text = db.prepare("INSERT INTO chunks_fts(rowid, text, heading, path_words) VALUES (?, ?, '', ?)");
  const group = 1_000;
  for (let from = 0; from < chunks; from += group) {
    const made = vectors(Math.min(group, chunks - from), { seed: 100 + from, clustered: kind === "clustered" });
    db.transaction(() => {
      for (const [index, vector] of made.entries()) {
        const rowid = from + index + 1;
        const body = Array.from({ length: 200 }, () => words.pick()).join(" ");
        chunk.run(rowid, String(rowid), `memory/${rowid}.md`, body);
        text.run(rowid, body, `memory ${rowid}`);
        store.put(rowid, "memory", vector);
      }
    })();
    store.committed();
  }
  store.close();
  db.close();
}

function vocabulary() {
  const random = seeded(9);
  const letters = "abcdefghijklmnoprstuvwz";
  const all = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 7 }, () => letters[Math.floor(random() * letters.length)]).join(""),
  );
  return { pick: () => all[Math.floor(all.length * random() ** 3)] };
}
