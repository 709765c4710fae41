import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIndex, writeIdentity } from "../../plugins/memory-core/engine/database.ts";
import { identityOf } from "../../plugins/memory-core/engine/identity.ts";
import { BestRows } from "../../plugins/memory-core/engine/vectors/best-rows.ts";
import { createVectorStore } from "../../plugins/memory-core/engine/vectors/store.ts";
import { noHostHandlers } from "../../plugins/memory-core/no-host-handlers.ts";
import { type MemoryIndex, openMemoryIndex } from "../../plugins/memory-core/open-memory-index.ts";
import { testRequest } from "../../plugins/memory-core/test-engine.ts";
import { testFacts } from "../../plugins/memory-core/test-host.ts";
import { seededRandom } from "../../plugins/memory-core/test-vectors.ts";
import { createTestWorkspace, type TestWorkspace } from "../../plugins/memory-core/test-workspace.ts";

/** An index of 200,000 passages with vectors of 1,536 components, 3.5 GB: what is found of it at once, and what is found at all. */
const chunks = 200_000;
const dims = 1_536;
const seed = Number(process.env.SVC_TEST_SEED ?? 18);
/** Time a search has by default. */
const timeoutMs = 4_000;
const k = 24;
const subjects = 200;

let ws: TestWorkspace;
let index: MemoryIndex;
const queries: Float32Array[] = [];
/** The nearest of each query, compared one by one while the index was filled. */
const nearest: BestRows[] = [];
const random = seededRandom(seed);
const centres = Array.from({ length: subjects }, () => direction());

beforeAll(() => {
  ws = createTestWorkspace({});
  for (let i = 0; i < 12; i++) {
    queries.push(near(centres[i * 7] as Float32Array));
    nearest.push(new BestRows(k));
  }
  fill();
}, 900_000);
afterAll(() => ws.remove());

function direction(): Float32Array {
  const vector = new Float32Array(dims);
  for (let i = 0; i < dims; i++) vector[i] = random() + random() - 1;
  return unit(vector);
}

/** As far from the centre of its subject as from that of its own words. */
function near(centre: Float32Array): Float32Array {
  const vector = direction();
  for (let i = 0; i < dims; i++) vector[i] = (vector[i] as number) + (centre[i] as number);
  return unit(vector);
}

function unit(vector: Float32Array): Float32Array {
  const scale = 1 / Math.sqrt(product(vector, vector));
  for (let i = 0; i < dims; i++) vector[i] = (vector[i] as number) * scale;
  return vector;
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < dims; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function fill(): void {
  mkdirSync(dirname(ws.settings.dbPath), { recursive: true });
  const db = createIndex(ws.settings.dbPath, ws.settings.tokenizer);
  const store = createVectorStore(db, { vector: ws.settings.vector });
  const chunk = db.prepare(
    "INSERT INTO chunks(rowid, id, path, source, start_line, end_line, hash, model, text, updated_at) VALUES (?, ?, ?, 'memory', 1, 9, ?, 'words', ?, 0)",
  );
  const text = db.prepare("INSERT INTO chunks_fts(rowid, text, heading, path_words) VALUES (?, ?, '', '')");
  for (let from = 1; from <= chunks; from += 1_000) {
    db.transaction(() => {
      for (let rowid = from; rowid < from + 1_000; rowid++) {
        const vector = near(centres[Math.floor(random() * subjects)] as Float32Array);
        for (const [at, query] of queries.entries()) nearest[at]?.add(rowid, product(query, vector));
        chunk.run(rowid, String(rowid), `memory/${rowid}.md`, String(rowid), `passage ${rowid} of many`);
        text.run(rowid, `passage ${rowid} of many`);
        store.put(rowid, "memory", vector);
      }
    })();
    store.committed();
  }
  writeIdentity(db, { ...identityOf(ws.settings, testFacts({ dims })), vectorDims: dims });
  store.close();
  db.close();
}

function open(): MemoryIndex {
  const handlers = { ...noHostHandlers, embedQuery: async ({ text }: { text: string }) => queries[Number(text.slice(5))] as Float32Array };
  const opened = openMemoryIndex({ ...ws.settings, handlers });
  opened.assign({ provider: testFacts({ dims }), keepVectors: true });
  return opened;
}

/** Finds nothing by its words. */
const ask = (at: number) =>
  index.search({ ...testRequest, query: `query${at}`, minScore: 0.01, maxResults: k, candidateMultiplier: 1, timeoutMs });
const rowOf = (path: string) => Number(/\d+/.exec(path)?.[0]);

describe.each(["after it was made", "after a restart"])("an index of 200,000 passages, %s,", () => {
  beforeAll(async () => {
    index = open();
    await index.status(); // the thread runs: in a gateway it begins to watch the notes at the start
  });
  afterAll(() => index.close());

  test("answers its first searches by meaning, within their limit", async () => {
    const begun = performance.now();
    const replies = await Promise.all([ask(0), ask(1), ask(2)]);
    process.stdout.write(`\nfirst searches: ${Math.round(performance.now() - begun)} ms\n`);
    for (const [at, reply] of replies.entries()) {
      expect(reply).toMatchObject({ mode: "hybrid", partial: false });
      expect(reply.degraded).toBeUndefined();
      expect(rowOf(reply.hits[0]?.path ?? "")).toBe(nearest[at]?.sorted()[0]?.key);
    }
  });

  test("finds what an exact comparison finds", async () => {
    let found = 0;
    for (const [at, right] of nearest.entries()) {
      const rows = new Set((await ask(at)).hits.map(({ path }) => rowOf(path)));
      found += right.keys().filter((rowid) => rows.has(rowid)).length;
    }
    expect(found / (k * queries.length)).toBeGreaterThanOrEqual(0.99);
  });
});
