import { setImmediate as nextTurn } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { getLoadablePath } from "sqlite-vec";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { IndexSettings, MemorySource } from "../../index-settings.ts";
import { addChunk as addTestChunk, fillStore } from "../../test-store.ts";
import { clusteredVectors, randomVectors, seededRandom } from "../../test-vectors.ts";
import type { Database } from "../database.ts";
import { createPacer } from "../pacer.ts";
import { schemaSql } from "../schema.ts";
import type { VectorStore } from "../vector-store.ts";
import { scanRows } from "./row-scan.ts";
import { createVectorStore, type VectorStoreOptions } from "./store.ts";

type VectorSettings = IndexSettings["vector"];

const bundled: VectorSettings = { enabled: true, extensionPath: undefined };
const off: VectorSettings = { enabled: false, extensionPath: undefined };
const both: MemorySource[] = ["memory", "sessions"];
const pacer = createPacer(new AbortController().signal);

let db: Database;
let open: VectorStore[];
/** Has sqlite-vec compared stored rows? */
let usedDistances: boolean;
/** Does each page of codes take longer than a slice? */
let isSlow: boolean;
beforeEach(() => {
  usedDistances = false;
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

/** The option `verbose` of the database would write out each vector that is stored. */
function watchStatements(seen: Database): void {
  const prepare = seen.prepare.bind(seen);
  seen.prepare = ((sql: string) => {
    const statement = prepare(sql);
    const isDistance = sql.includes("vec_distance_cosine") && !sql.includes("json_each");
    if (!isDistance && !sql.includes("FROM chunk_codes WHERE chunk_id >")) return statement;
    const all = statement.all.bind(statement);
    return Object.assign(statement, {
      all(...params: unknown[]) {
        usedDistances ||= isDistance;
        for (const until = performance.now() + 15; isSlow && performance.now() < until; );
        return all(...params);
      },
    });
  }) as typeof seen.prepare;
}

function store(vector: VectorSettings = bundled, over: Partial<VectorStoreOptions> = {}): VectorStore {
  const made = createVectorStore(db, { vector, ...over });
  open.push(made);
  return made;
}

const addChunk = (rowid: number, source: MemorySource) => addTestChunk(db, rowid, source);
const fill = (into: VectorStore, vectors: readonly Float32Array[], first?: number) => fillStore(db, into, vectors, first);

const unit = (dims: number, at: number) => Float32Array.from({ length: dims }, (_, i) => (i === at ? 1 : 0));
const ids = (rows: ReadonlyArray<{ rowid: number }>) => rows.map((row) => row.rowid);

/** After this every search goes through the matrix. */
async function warm(into: VectorStore, query: Float32Array): Promise<void> {
  await into.search(query, 1, both);
  await eventually(() => into.isLoaded);
}

/** The exact answer of the extension. */
function exact(query: Float32Array, k: number, sources: readonly MemorySource[]): number[] {
  const among = sources.map((source) => `'${source}'`).join(",");
  const knn = db.prepare(`SELECT chunk_id FROM chunks_vec WHERE embedding MATCH ? AND k = ? AND source IN (${among}) ORDER BY distance`);
  return knn.pluck().all(Buffer.from(query.buffer), k) as number[];
}

describe.each([
  ["clustered", clusteredVectors],
  ["random", randomVectors],
] as const)("%s vectors", (_name, make) => {
  test.each([[both], [["memory"]], [["sessions"]]] as MemorySource[][][])("of %j are found as sqlite-vec finds them", async (sources) => {
    const random = seededRandom(11);
    const vectors = make(1_515, 384, random);
    const vectorStore = store();
    fill(vectorStore, vectors.slice(0, 1_500));
    await warm(vectorStore, unit(384, 0));

    let found = 0;
    for (const query of vectors.slice(1_500)) {
      const right = new Set(exact(query, 24, sources));
      found += ids(await vectorStore.search(query, 24, sources)).filter((rowid) => right.has(rowid)).length;
    }

    expect(found / (24 * 15)).toBeGreaterThanOrEqual(0.99);
  });
});

test.each([
  ["with the extension, before the matrix is loaded", bundled, false],
  ["with the extension and the matrix", bundled, true],
  ["without the extension", off, true],
] as const)("the score is the cosine similarity, %s", async (_name, vector, isWarm) => {
  const vectorStore = store(vector);
  fill(vectorStore, [
    unit(40, 0),
    Float32Array.from({ length: 40 }, (_, i) => (i === 0 ? 3 : i === 1 ? 4 : 0)),
    Float32Array.from({ length: 40 }, (_, i) => (i === 0 ? -2 : 0)),
  ]);
  if (isWarm) await warm(vectorStore, unit(40, 0));

  const found = await vectorStore.search(
    Float32Array.from({ length: 40 }, (_, i) => (i === 0 ? 5 : 0)),
    3,
    both,
  );

  expect(ids(found)).toEqual([1, 2, 3]);
  expect(found.map((row) => Math.round(row.score * 1e6) / 1e6)).toEqual([1, 0.6, -1]);
});

test("a query of another length finds nothing, and neither does one without a direction", async () => {
  const vectorStore = store();
  fill(vectorStore, [unit(8, 0)]);
  expect(await vectorStore.search(unit(9, 0), 5, both)).toEqual([]);
  expect(await vectorStore.search(new Float32Array(8), 5, both)).toEqual([]);
  expect(await vectorStore.search(unit(8, 0), 5, [])).toEqual([]);
});

test("a vector of another length is refused", () => {
  const vectorStore = store();
  fill(vectorStore, [unit(8, 0)]);
  expect(vectorStore.dims).toBe(8);
  expect(() => vectorStore.put(2, "memory", unit(9, 0))).toThrow(expect.objectContaining({ code: "memory-dimension-mismatch" }));
});

test("a vector without a direction is kept and never found", async () => {
  const vectorStore = store();
  fill(vectorStore, [new Float32Array(8), unit(8, 1)]);
  expect(ids(await vectorStore.search(unit(8, 0), 5, both))).toEqual([2]);
  await warm(vectorStore, unit(8, 0));
  expect(ids(await vectorStore.search(unit(8, 0), 5, both))).toEqual([2]);
});

describe.each([
  ["with the extension", bundled],
  ["without it", off],
] as const)("changes, %s", (_name, vector) => {
  test("are found once they are committed, whether the matrix is loaded or not", async () => {
    const vectorStore = store(vector);
    fill(vectorStore, [unit(8, 0)]);
    expect(ids(await vectorStore.search(unit(8, 1), 1, both))).toEqual([1]);
    await warm(vectorStore, unit(8, 1));

    fill(vectorStore, [unit(8, 1)], 2);
    expect(ids(await vectorStore.search(unit(8, 1), 1, both))).toEqual([2]);
    fill(vectorStore, [unit(8, 3)], 2);
    fill(vectorStore, [unit(8, 1)], 4);
    expect(ids(await vectorStore.search(unit(8, 1), 1, both))).toEqual([4]);
    expect(ids(await vectorStore.search(unit(8, 3), 1, both))).toEqual([2]);
    db.transaction(() => vectorStore.remove(4))();
    vectorStore.committed();
    expect(ids(await vectorStore.search(unit(8, 1), 9, both))).toEqual([1, 2]);
  });

  test("that are rolled back are forgotten, the length of the first vector with them", async () => {
    const vectorStore = store(vector);
    const failing = db.transaction(() => {
      addChunk(1, "memory");
      vectorStore.put(1, "memory", unit(8, 0));
      throw new Error("no");
    });
    expect(failing).toThrow("no");
    vectorStore.rolledBack();
    expect(vectorStore.dims).toBeUndefined();

    fill(vectorStore, [unit(6, 0)]);
    await warm(vectorStore, unit(6, 0));
    expect(ids(await vectorStore.search(unit(6, 0), 5, both))).toEqual([1]);
  });

  test("that come while the matrix is being loaded are in it", async () => {
    const random = seededRandom(5);
    const vectorStore = store(vector);
    fill(vectorStore, randomVectors(12_000, 64, random));
    const wanted = randomVectors(1, 64, random)[0] as Float32Array;
    isSlow = true;

    const loading = vectorStore.search(wanted, 5_000, both);
    await nextTurn(); // the first rows are read
    expect(vectorStore.isLoaded).toBe(false);
    fill(vectorStore, [wanted], 1);
    db.transaction(() => vectorStore.remove(2))();
    vectorStore.committed();
    await loading;
    await eventually(() => vectorStore.isLoaded);

    expect(ids(await vectorStore.search(wanted, 1, both))).toEqual([1]);
    expect(ids(await vectorStore.search(wanted, 12_000, both))).not.toContain(2);
  });

  test("that are rolled back while it is being loaded leave nothing behind", async () => {
    const random = seededRandom(6);
    const vectors = randomVectors(12_000, 64, random);
    const vectorStore = store(vector);
    fill(vectorStore, vectors);
    const last = vectors[11_999] as Float32Array;
    isSlow = true;

    const loading = vectorStore.search(last, 5_000, both);
    db.exec("BEGIN");
    vectorStore.remove(12_000);
    const isRead = db.prepare("SELECT 1 FROM chunk_vectors WHERE chunk_id = 12000");
    expect(isRead.get()).toBeUndefined();
    for (let turn = 0; turn < 200 && !vectorStore.isLoaded; turn++) await nextTurn(); // the last rows are read as they stand in the open transaction
    db.exec("ROLLBACK");
    vectorStore.rolledBack();
    await loading;

    expect(ids(await vectorStore.search(last, 1, both))).toEqual([12_000]);
  });
});

test("many rows come and go, and what is left is found", async () => {
  const random = seededRandom(3);
  const vectors = randomVectors(400, 32, random);
  const vectorStore = store(off);
  fill(vectorStore, vectors.slice(0, 10));
  await warm(vectorStore, unit(32, 0));
  for (let round = 0; round < 40; round++) {
    fill(vectorStore, vectors.slice(round * 10, round * 10 + 10), round * 10 + 1);
    db.transaction(() => {
      for (let i = 0; i < 5; i++) vectorStore.remove(round * 10 + 1 + i);
    })();
    vectorStore.committed();
  }
  for (let at = 0; at < 400; at++) {
    const [first] = await vectorStore.search(vectors[at] as Float32Array, 1, both);
    expect(first?.rowid === at + 1).toBe(at % 10 >= 5);
  }
});

describe("the extension", () => {
  test("is used from the path that is configured", () => {
    expect(store({ enabled: true, extensionPath: getLoadablePath() }).backend).toBe("sqlite-vec");
  });

  test.each([
    ["switched off", off, "store.vector.enabled"],
    ["not there", { enabled: true, extensionPath: "/nowhere/vec0.so" }, "/nowhere/vec0.so"],
    ["something else", { enabled: true, extensionPath: import.meta.filename }, import.meta.filename],
  ] as const)("%s is told, and vectors are searched all the same", async (_name, vector, said) => {
    const vectorStore = store(vector);
    fill(vectorStore, [unit(8, 0), unit(8, 1)]);
    expect(vectorStore.backend).toBe("in-process");
    expect(vectorStore.loadError).toContain(said);
    expect(ids(await vectorStore.search(unit(8, 1), 1, both))).toEqual([2]);
  });

  test("catches up with what was written without it", async () => {
    fill(store(), [unit(8, 0), unit(8, 1)]);
    const without = store(off);
    fill(without, [unit(8, 2)], 3);
    db.transaction(() => without.remove(1))();
    without.committed();

    const again = store();
    expect(ids(await again.search(unit(8, 2), 1, both))).toEqual([3]);

    await eventually(() => db.prepare("SELECT 1 FROM meta WHERE key = 'vec0_stale'").get() === undefined);
    expect(exact(unit(8, 2), 9, both)).toEqual([3, 2]);
  });
});

describe("signs before bytes", () => {
  test("find the same on vectors that have a structure", async () => {
    const random = seededRandom(7);
    const vectors = clusteredVectors(4_010, 256, random, 200);
    const vectorStore = store(bundled, { bitStageFrom: 1_000 });
    fill(vectorStore, vectors.slice(0, 4_000));
    await warm(vectorStore, unit(256, 0));

    let found = 0;
    for (const query of vectors.slice(4_000)) {
      const right = new Set(exact(query, 24, both));
      found += ids(await vectorStore.search(query, 24, both)).filter((rowid) => right.has(rowid)).length;
    }

    expect(found / (24 * 10)).toBeGreaterThanOrEqual(0.99);
  });

  test("are left out where they would lose results", async () => {
    const random = seededRandom(9);
    const vectors = randomVectors(12_005, 64, random);
    const vectorStore = store(off, { bitStageFrom: 1_000 });
    fill(vectorStore, vectors.slice(0, 12_000));
    await warm(vectorStore, unit(64, 0));
    for (const query of vectors.slice(12_000)) {
      const right = new Set(ids((await scanRows(db, { query, k: 24, sources: both, backend: "in-process" }, pacer)) ?? []));
      const found = ids(await vectorStore.search(query, 24, both)).filter((rowid) => right.has(rowid));
      expect(found.length).toBeGreaterThanOrEqual(23);
    }
  });
});

test("the scan without a matrix gives the same rows and scores", async () => {
  const random = seededRandom(13);
  const vectors = randomVectors(500, 48, random);
  const vectorStore = store(off);
  fill(vectorStore, vectors);
  await warm(vectorStore, unit(48, 0));
  const query = randomVectors(1, 48, random)[0] as Float32Array;
  for (const sources of [both, ["sessions"], ["memory"]] as MemorySource[][]) {
    expect(await scanRows(db, { query, k: 10, sources, backend: "in-process" }, pacer)).toEqual(
      await vectorStore.search(query, 10, sources),
    );
  }
});

describe("without a matrix", () => {
  const noMatrix = { hasMatrix: false };
  /** To compare with: sqlite-vec counts in single precision. */
  const nearly = (rows: ReadonlyArray<{ rowid: number; score: number }>) =>
    rows.map(({ rowid, score }) => ({ rowid, score: expect.closeTo(score, 5) }));

  test.each([
    ["clustered", clusteredVectors],
    ["random", randomVectors],
  ] as const)("sqlite-vec and JavaScript give the rows and scores that the matrix gives, of %s vectors", async (_name, make) => {
    const vectors = make(3_005, 384, seededRandom(17));
    fill(store(off), vectors.slice(0, 3_000)); // the table of the extension lacks them, so rows are compared
    const [byMatrix, bySqliteVec, byCode] = [store(off), store(bundled, noMatrix), store(off, noMatrix)];
    await warm(byMatrix, unit(384, 0));
    expect([bySqliteVec.backend, byCode.backend]).toEqual(["sqlite-vec", "in-process"]);

    for (const query of vectors.slice(3_000)) {
      for (const sources of [both, ["sessions"]] as MemorySource[][]) {
        const right = nearly(await byMatrix.search(query, 10, sources));
        expect(await byCode.search(query, 10, sources)).toEqual(right);
        expect(usedDistances).toBe(false);
        expect(await bySqliteVec.search(query, 10, sources)).toEqual(right);
        expect(usedDistances).toBe(true);
        usedDistances = false;
      }
    }
    expect([bySqliteVec.isLoaded, byCode.isLoaded]).toEqual([false, false]);
  });

  test("sqlite-vec compares the rows by itself, as exactly as JavaScript", async () => {
    const vectors = randomVectors(2_001, 96, seededRandom(19));
    fill(store(), vectors.slice(0, 2_000));
    const scan = { query: vectors[2_000] as Float32Array, k: 2_000, sources: both };

    const [one, other] = await Promise.all([
      scanRows(db, { ...scan, backend: "sqlite-vec" }, pacer),
      scanRows(db, { ...scan, backend: "in-process" }, pacer),
    ]);

    const scoresOf = (rows: typeof one) => new Map(rows?.map(({ rowid, score }) => [rowid, score]));
    const right = scoresOf(other);
    expect([...scoresOf(one)].filter(([rowid, score]) => Math.abs(score - (right.get(rowid) ?? 9)) > 1e-5)).toEqual([]);
    expect(one).toHaveLength(2_000);
  });

  test.each([
    ["with the extension", bundled],
    ["without it", off],
  ] as const)("changes are found at once, and a vector without a direction never, %s", async (_name, vector) => {
    const vectorStore = store(vector, noMatrix);
    fill(vectorStore, [unit(8, 0), new Float32Array(8), unit(8, 2)]);
    expect(ids(await vectorStore.search(unit(8, 2), 5_000, both))).toEqual([3, 1]);
    db.transaction(() => vectorStore.remove(3))();
    vectorStore.committed();
    expect(ids(await vectorStore.search(unit(8, 2), 5_000, both))).toEqual([1]);
  });

  test.each([
    ["with the extension", bundled],
    ["without it", off],
  ] as const)("a search ends when nobody waits for it any more, or the store is closed, %s", async (_name, vector) => {
    fill(store(off), randomVectors(3_000, 32, seededRandom(23)));
    const vectorStore = store(vector, noMatrix);
    const gone = new AbortController();
    const aborted = expect.objectContaining({ code: "memory-sync-aborted" });

    const abandoned = vectorStore.search(unit(32, 0), 5, both, gone.signal);
    gone.abort();
    await expect(abandoned).rejects.toEqual(aborted);

    const closed = vectorStore.search(unit(32, 0), 5, both);
    vectorStore.close();
    await expect(closed).rejects.toEqual(aborted);
  });
});
