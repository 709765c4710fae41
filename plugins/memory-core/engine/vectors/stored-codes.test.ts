import Sqlite from "better-sqlite3";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { IndexSettings, MemorySource } from "../../index-settings.ts";
import { fillStore } from "../../test-store.ts";
import { randomVectors, seededRandom } from "../../test-vectors.ts";
import type { Database } from "../database.ts";
import { createPacer } from "../pacer.ts";
import { schemaSql } from "../schema.ts";
import type { VectorStore } from "../vector-store.ts";
import { encode } from "./codes.ts";
import { scanRows } from "./row-scan.ts";
import { vectorOf } from "./similarity.ts";
import { createVectorStore } from "./store.ts";

const bundled: IndexSettings["vector"] = { enabled: true, extensionPath: undefined };
const off: IndexSettings["vector"] = { enabled: false, extensionPath: undefined };
const both: MemorySource[] = ["memory", "sessions"];
const pacer = createPacer(new AbortController().signal);

let db: Database;
let open: VectorStore[];
/** Statements that were prepared. */
let prepared: string[];
/** Does each page of codes take longer than a slice? */
let isSlow: boolean;
beforeEach(() => {
  prepared = [];
  isSlow = false;
  db = new Sqlite(":memory:");
  watchStatements(db);
  db.exec(schemaSql("unicode61"));
  open = [];
});
afterEach(() => {
  for (const store of open) store.close();
  db.close();
});

function watchStatements(seen: Database): void {
  const prepare = seen.prepare.bind(seen);
  seen.prepare = ((sql: string) => {
    prepared.push(sql);
    const statement = prepare(sql);
    if (!sql.includes("FROM chunk_codes WHERE chunk_id >")) return statement;
    const all = statement.all.bind(statement);
    return Object.assign(statement, {
      all(...params: unknown[]) {
        for (const until = performance.now() + 15; isSlow && performance.now() < until; );
        return all(...params);
      },
    });
  }) as typeof seen.prepare;
}

function store(vector: IndexSettings["vector"] = bundled): VectorStore {
  const made = createVectorStore(db, { vector });
  open.push(made);
  return made;
}

const fill = (into: VectorStore, vectors: readonly Float32Array[], first?: number) => fillStore(db, into, vectors, first);
const unit = (dims: number, at: number) => Float32Array.from({ length: dims }, (_, i) => (i === at ? 1 : 0));
const ids = (rows: ReadonlyArray<{ rowid: number }>) => rows.map((row) => row.rowid);
/** Were stored vectors compared one after the other? */
const usedDistances = () => prepared.some((sql) => sql.includes("vec_distance_cosine") && !sql.includes("json_each"));

/** After this every search goes through the matrix. */
async function warm(into: VectorStore, query: Float32Array): Promise<void> {
  await into.search(query, 1, both);
  await eventually(() => into.isLoaded);
}

/** Makes the tables those of version 2: no codes, and an unused column beside the vectors. */
function makeOlder(): void {
  db.exec("DROP TABLE chunk_codes; ALTER TABLE chunk_vectors ADD COLUMN q8 BLOB");
}

test("while the matrix of an older index is loaded sqlite-vec answers, and afterwards the matrix does", async () => {
  const vectors = randomVectors(20_001, 32, seededRandom(29));
  makeOlder();
  fill(store(off), vectors.slice(0, 20_000));
  const query = vectors[20_000] as Float32Array;
  const vectorStore = store();

  const first = await vectorStore.search(query, 10, both);
  expect([vectorStore.isLoaded, usedDistances()]).toEqual([false, true]);

  await eventually(() => vectorStore.isLoaded);
  expect(await vectorStore.search(query, 10, both)).toEqual(first);
});

test.each([
  ["with the extension", bundled],
  ["without it", off],
] as const)("changes of an older index are found, %s", async (_name, vector) => {
  makeOlder();
  const vectorStore = store(vector);
  fill(vectorStore, [unit(8, 0), unit(8, 1)]);
  await warm(vectorStore, unit(8, 0));
  fill(vectorStore, [unit(8, 2)], 3);
  db.transaction(() => vectorStore.remove(1))();
  vectorStore.committed();
  expect(ids(await vectorStore.search(unit(8, 2), 9, both))).toEqual([3, 2]);
});

describe("codes", () => {
  /** Every vector that has a direction has its code, and nothing else has one. */
  function expectRightCodes(): void {
    const rows = db
      .prepare("SELECT v.embedding, c.code FROM chunk_vectors v LEFT JOIN chunk_codes c ON c.chunk_id = v.chunk_id")
      .all() as Array<{ embedding: Buffer; code: Buffer | null }>;
    const right = rows.map(({ embedding }) => encode(vectorOf(embedding)));
    expect(rows.map(({ code }) => code && [...code])).toEqual(right.map((code) => (code ? [...code] : null)));
    const count = db.prepare("SELECT count(*) FROM chunk_codes").pluck().get();
    expect(count).toBe(right.filter((code) => code !== undefined).length);
  }

  test("stand beside the vectors, whatever comes, goes, changes and is taken back", () => {
    const random = seededRandom(31);
    const vectors = randomVectors(300, 48, random);
    const vectorStore = store();
    fill(vectorStore, vectors.slice(0, 100));
    for (let round = 0; round < 20; round++) {
      const change = db.transaction(() => {
        for (let i = 0; i < 10; i++) {
          const rowid = 1 + Math.floor(random() * 150);
          if (random() < 0.4) vectorStore.remove(rowid);
          else vectorStore.put(rowid, "memory", random() < 0.1 ? new Float32Array(48) : (vectors[round * 10 + i] as Float32Array));
        }
        if (round % 4 === 3) throw new Error("no");
      });
      try {
        change();
        vectorStore.committed();
      } catch {
        vectorStore.rolledBack();
      }
    }
    expectRightCodes();
  });

  test.each([
    ["with the extension", bundled],
    ["without it", off],
  ] as const)("a full disk takes back what did not fit, and what was there is found, %s", async (_name, vector) => {
    const vectors = randomVectors(600, 48, seededRandom(33));
    const vectorStore = store(vector);
    fill(vectorStore, vectors.slice(0, 100));
    await warm(vectorStore, vectors[0] as Float32Array);
    db.pragma(`max_page_count = ${Number(db.pragma("page_count", { simple: true })) + 4}`);

    expect(() => fill(vectorStore, vectors.slice(100), 101)).toThrow("full");
    vectorStore.rolledBack();
    db.pragma("max_page_count = 1000000");

    expect(ids(await vectorStore.search(vectors[50] as Float32Array, 1, both))).toEqual([51]);
    await warm(vectorStore, vectors[0] as Float32Array);
    expect(ids(await vectorStore.search(vectors[50] as Float32Array, 1_000, both))).toHaveLength(100);
    expectRightCodes();
  });

  test("are all that the first search of a large index reads before it knows which rows it wants", async () => {
    const vectors = randomVectors(12_001, 64, seededRandom(37));
    fill(store(), vectors.slice(0, 12_000));
    prepared = [];
    const query = vectors[12_000] as Float32Array;
    const vectorStore = store();

    const found = await vectorStore.search(query, 10, both);

    const read = prepared.filter((sql) => /FROM chunk_vectors\b(?!.*(chunk_id = \?|LIMIT 1$))/.test(sql));
    expect([vectorStore.isLoaded, usedDistances(), read]).toEqual([true, false, []]);
    const right = await scanRows(db, { query, k: 10, sources: both, backend: "in-process" }, pacer);
    // sqlite-vec counts in single precision.
    expect(found).toEqual(right?.map(({ rowid, score }) => ({ rowid, score: expect.closeTo(score, 5) })));
  });

  test("that are damaged are made again from the vectors while they are read", async () => {
    fill(store(off), randomVectors(200, 48, seededRandom(41)));
    const wanted = vectorOf(db.prepare("SELECT embedding FROM chunk_vectors WHERE chunk_id = 7").pluck().get() as Buffer);
    db.exec("UPDATE chunk_codes SET code = x'00' WHERE chunk_id = 7; UPDATE chunk_codes SET code = zeroblob(9000) WHERE chunk_id = 8");
    const vectorStore = store(off);
    expect(ids(await vectorStore.search(wanted, 1, both))).toEqual([7]);
    expect(await vectorStore.search(wanted, 500, both)).toHaveLength(200);
  });

  test("a search that nobody waits for any more ends with the loading", async () => {
    fill(store(off), randomVectors(12_000, 32, seededRandom(43)));
    isSlow = true;
    const vectorStore = store();
    const gone = new AbortController();
    const abandoned = vectorStore.search(unit(32, 0), 5, both, gone.signal);
    gone.abort();
    await expect(abandoned).rejects.toEqual(expect.objectContaining({ code: "memory-sync-aborted" }));
    await eventually(() => vectorStore.isLoaded);
  });
});
