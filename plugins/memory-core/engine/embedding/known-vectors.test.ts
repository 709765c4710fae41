import { copyFileSync, renameSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestEngine, type TestEngine } from "../../test-engine.ts";
import { createTestHost, embedFault, type TestHost, testFacts, wordVector } from "../../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../../test-workspace.ts";
import { embeddedText, passagesOf } from "../passages.ts";

/** Lines that cost 60 characters: 26 of them are a passage, with room for 40 more, and the last six begin the next one. */
const lines = Array.from(
  { length: 520 },
  (_, i) => `line ${String(i).padStart(4, "0")} ${"abcdefghij klmnopqrst uvwxyzabcd efghijklmnop qrs"}`,
);
const note = `${lines.join("\n")}\n`;
const path = "memory/long.md";

let ws: TestWorkspace;
let host: TestHost;
let index: TestEngine;
beforeEach(async () => {
  ws = createTestWorkspace({ [path]: note });
  host = createTestHost();
  index = createTestEngine(ws.settings, host);
  await index.provide(testFacts());
  await index.sync();
});
afterEach(async () => {
  await index.close();
  ws.remove();
});

const asked = () => host.groups.splice(0).flat();
const textsOf = (content: string) =>
  passagesOf(content, { path, chunking: ws.settings.chunking, maxTextBytes: 8_000 }).list.map((passage) => embeddedText(passage));
/** Texts of a content that the note did not have. */
const newTexts = (content: string) => textsOf(content).filter((text) => !textsOf(note).includes(text));

/** Every passage has the vector of its text. */
function expectRightVectors(): void {
  const db = new Sqlite(ws.settings.dbPath, { readonly: true });
  try {
    const rows = db
      .prepare("SELECT c.text, c.trail, v.embedding FROM chunks c LEFT JOIN chunk_vectors v ON v.chunk_id = c.rowid")
      .all() as Array<{ text: string; trail: string; embedding: Buffer | null }>;
    const wrong = rows.filter(({ embedding, ...passage }) => {
      const vector = wordVector(embeddedText(passage));
      return !embedding?.equals(Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength));
    });
    expect(wrong).toEqual([]);
    expect(db.prepare("SELECT count(*) FROM chunk_vectors").pluck().get()).toBe(rows.length);
  } finally {
    db.close();
  }
}

function startLines(): unknown[] {
  const db = new Sqlite(ws.settings.dbPath, { readonly: true });
  try {
    return db.prepare("SELECT start_line FROM chunks ORDER BY start_line").pluck().all();
  } finally {
    db.close();
  }
}

test("one line edited in a note of 26 passages sends the passage that holds it", async () => {
  expect(asked()).toHaveLength(26);
  const edited = note.replace("line 0150 abc", "line 0150 xyz");
  expect(newTexts(edited)).toHaveLength(1);

  ws.write(path, edited);
  await index.sync();

  expect(asked()).toEqual(newTexts(edited));
  expectRightVectors();
});

test("a line in the overlap of two passages sends both", async () => {
  asked();
  const [first = "", second = ""] = textsOf(note);
  const shared = first.split("\n").find((line) => second.includes(line)) as string;
  const edited = note.replace(shared, shared.replace("abc", "xyz"));

  ws.write(path, edited);
  await index.sync();

  expect(asked()).toEqual(newTexts(edited));
  expect(newTexts(edited)).toHaveLength(2);
});

test("a line more, which moves all others down, sends the passage that holds it", async () => {
  asked();
  const edited = `\n${note}`;
  expect(newTexts(edited)).toHaveLength(1);

  ws.write(path, edited);
  await index.sync();

  expect(asked()).toEqual(newTexts(edited));
  expect(startLines()).toEqual(textsOf(note).map((_, at) => (at === 0 ? 1 : 20 * at + 2)));
  expectRightVectors();
});

test("a note that is renamed, and one that is copied, send nothing", async () => {
  asked();
  renameSync(ws.path(path), ws.path("memory/renamed.md"));
  await index.sync();
  expect(asked()).toEqual([]);
  expect(await index.status()).toMatchObject({ chunks: 26 });

  copyFileSync(ws.path("memory/renamed.md"), ws.path("memory/copy.md"));
  await index.sync();
  expect(asked()).toEqual([]);
  expect(await index.status()).toMatchObject({ chunks: 52 });
  expectRightVectors();
});

test("the same text below another heading is another text", async () => {
  asked();
  ws.write("memory/headed.md", `# Cellar\n\n${lines.slice(0, 3).join("\n")}\n`);
  await index.sync();
  asked();
  ws.write("memory/other.md", `# Attic\n\n${lines.slice(0, 3).join("\n")}\n`);
  await index.sync();
  expect(asked()).toHaveLength(1);
  expectRightVectors();
});

test("while nobody embeds, what has not changed keeps its vectors, and the rest gets them later", async () => {
  asked();
  await index.provide(null, true);
  const edited = note.replace("line 0150 abc", "line 0150 xyz");
  ws.write(path, edited);
  await index.sync();
  const db = new Sqlite(ws.settings.dbPath, { readonly: true });
  expect(db.prepare("SELECT count(*) FROM chunks WHERE pending = 1").pluck().get()).toBe(1);
  db.close();

  await index.provide(testFacts());
  await index.sync();
  expect(asked()).toEqual(newTexts(edited));
  expectRightVectors();
});

test("a provider that fails costs no vector of a text that has not changed", async () => {
  asked();
  host.embed = () => Promise.reject(embedFault("auth"));
  ws.write(path, note.replace("line 0150 abc", "line 0150 xyz"));
  await index.sync();
  expect(asked()).toHaveLength(1);
  const db = new Sqlite(ws.settings.dbPath, { readonly: true });
  expect(db.prepare("SELECT count(*) FROM chunk_vectors").pluck().get()).toBe(25);
  db.close();
});

describe("a new index", () => {
  test("made for another setting takes the vectors of the old one", async () => {
    asked();
    await index.reopen(testFacts(), { tokenizer: "trigram" });
    await index.sync();
    expect(asked()).toEqual([]);
    expectRightVectors();
  });

  test("that somebody asks for takes none", async () => {
    asked();
    await index.sync({ force: true });
    expect(asked()).toHaveLength(26);
  });

  test.each<[string, Partial<ReturnType<typeof testFacts>>]>([
    ["provider", { id: "other" }],
    ["model", { model: "other" }],
    ["task or address", { providerKey: "other" }],
    ["length", { dims: 32 }],
  ])("for another %s takes none", async (_, over) => {
    asked();
    host.dims = over.dims ?? host.dims;
    await index.reopen(testFacts(over));
    await index.sync();
    expect(asked()).toHaveLength(26);
  });
});

test("an index of the version before answers with its vectors, and the one made in its place takes them", async () => {
  asked();
  await index.close();
  makeOlder(ws.settings.dbPath);
  await index.reopen(testFacts());
  expect(await index.search("klmnopqrst")).toMatchObject({ mode: "hybrid" });
  expect(asked()).toEqual([]);

  await index.sync();

  expect(asked()).toEqual([]);
  const db = new Sqlite(ws.settings.dbPath, { readonly: true });
  expect(db.prepare("SELECT count(*) FROM chunk_codes").pluck().get()).toBe(26);
  db.close();
  expectRightVectors();
});

/** Tables as version 2 had them. */
function makeOlder(dbPath: string): void {
  const db = new Sqlite(dbPath);
  db.exec("DROP TABLE chunk_codes; ALTER TABLE chunk_vectors ADD COLUMN q8 BLOB; DROP INDEX idx_chunks_text");
  const identity = db.prepare("SELECT value FROM meta WHERE key = 'memory_index_meta_v1'").pluck().get() as string;
  db.prepare("UPDATE meta SET value = ? WHERE key = 'memory_index_meta_v1'").run(
    JSON.stringify({ ...JSON.parse(identity), schemaVersion: 2 }),
  );
  db.close();
}

test("an index without the list of texts gets one", async () => {
  asked();
  await index.close();
  const db = new Sqlite(ws.settings.dbPath);
  db.exec("DROP INDEX idx_chunks_text");
  db.close();
  await index.reopen(testFacts());
  ws.write("memory/copy.md", note);
  await index.sync();
  expect(asked()).toEqual([]);
});

test("a text is looked up by the index, however many there are", () => {
  const db = new Sqlite(ws.settings.dbPath, { readonly: true });
  const plan = db
    .prepare(
      "EXPLAIN QUERY PLAN SELECT rowid FROM chunks WHERE substr(hash, 1, 16) = substr(?, 1, 16) AND trail = ? AND model <> 'fts-only' LIMIT 16",
    )
    .all("", "") as Array<{ detail: string }>;
  db.close();
  expect(plan.map((step) => step.detail)).toEqual([expect.stringContaining("idx_chunks_text")]);
});
