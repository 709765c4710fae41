import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test as run } from "vitest";
import { type Corpus, fetchCorpora } from "../retrieval/corpora.ts";
import { type Comparison, compareEngines, formatTable, meanOver } from "../retrieval/table.ts";
import { skippedFor } from "../servers/needs.ts";
import { isRegistryThere } from "../servers/registry.ts";

const isThere = await isRegistryThere();
const { test } = isThere ? { test: run } : skippedFor("the documentation of npm packages, which the registry has");

let folder: string;
let corpora: Corpus[];
let comparison: Comparison;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-retrieval-"));
  if (!isThere) return;
  corpora = await fetchCorpora(folder);
  comparison = await compareEngines(corpora);
  for (const isHeld of [false, true]) {
    process.stdout.write(`\n${isHeld ? "held out" : "tuned on"}\n\n${formatTable(comparison, isHeld)}\n`);
  }
}, 900_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the questions are many, each once, and about sections that exist", () => {
  expect(corpora.length).toBeGreaterThanOrEqual(3);
  for (const { name, questions, unknown } of corpora) {
    expect(questions.length, name).toBeGreaterThanOrEqual(60);
    expect(new Set(questions.map(({ ask }) => ask)).size, name).toBe(questions.length);
    expect(unknown(), name).toEqual([]);
  }
});

test("questions that the ranking was not tuned on are answered better than before, and better than by any of their words", () => {
  const gain = (minus: string) => meanOver(comparison, { engine: "builtin", minus, measure: "ndcg10", isHeld: true });
  expect(gain("builtin before").mean).toBeGreaterThan(0.04);
  expect(gain("builtin before").low).toBeGreaterThan(0);
  expect(gain("plain OR").low).toBeGreaterThan(0);
});
