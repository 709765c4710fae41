import { afterAll, expect, test } from "vitest";
import { hybridSearch } from "../engine/hybrid-search.ts";
import { addToIndex, createTestIndex } from "../test-index.ts";
import { seededRandom } from "../test-vectors.ts";
import { readCorpus, sectionName } from "./corpus.ts";
import { bootstrapInterval, judge, meanOf, type Quality } from "./metrics.ts";
import { addPlainTable, searchPlainly } from "./plain-search.ts";
import { type Question, questions } from "./questions.ts";

const shown = 10;
const corpus = readCorpus();
const index = createTestIndex();
addToIndex(index, corpus.files);
addPlainTable(index.db);
afterAll(() => index.close());

interface Passage {
  path: string;
  startLine: number;
  endLine: number;
}

async function searchOurs(query: string): Promise<Passage[]> {
  const { hits } = await hybridSearch(
    { open: () => index, vectors: { kind: "off" }, deadlineMs: performance.now() + 60_000, now: Date.now, interim: () => undefined },
    {
      query,
      maxResults: shown,
      minScore: 0.35,
      explicit: false,
      sources: ["memory"],
      candidateMultiplier: 4,
      maxSnippetChars: 700,
      hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
      mmr: { enabled: false, lambda: 0.7 },
      temporalDecay: { enabled: false, halfLifeDays: 30 },
    },
  );
  return hits;
}

function judgeHits(hits: readonly Passage[], { answers }: Question): Quality {
  const shownSections = hits.map((hit) => corpus.sectionsIn(hit.path, hit.startLine, hit.endLine));
  return judge(
    shownSections.map((sections) => sections.filter((section) => answers.includes(section))),
    answers.length,
  );
}

async function compare(
  half: readonly Question[],
): Promise<Record<keyof Quality, { ours: number; plain: number; low: number; high: number }>> {
  const ours: Quality[] = [];
  const plain: Quality[] = [];
  for (const question of half) {
    ours.push(judgeHits(await searchOurs(question.ask), question));
    plain.push(judgeHits(searchPlainly(index.db, question.ask, shown), question));
  }
  const row = (key: keyof Quality) => {
    const gains = ours.map((quality, at) => quality[key] - (plain[at]?.[key] ?? 0));
    const interval = bootstrapInterval(gains, seededRandom(17));
    return { ours: meanOf(ours.map((quality) => quality[key])), plain: meanOf(plain.map((quality) => quality[key])), ...interval };
  };
  return { ndcg10: row("ndcg10"), recall6: row("recall6"), mrr: row("mrr") };
}

test("the questions are many, each once, and about sections that exist", () => {
  expect(questions.length).toBeGreaterThanOrEqual(60);
  expect(new Set(questions.map((question) => question.ask)).size).toBe(questions.length);
  expect(questions.flatMap((question) => question.answers).filter((answer) => !corpus.has(answer))).toEqual([]);
  expect(index.chunks).toBeGreaterThan(200);
});

test("questions are answered clearly better than by any of their words", async () => {
  const { ndcg10, recall6, mrr } = await compare(questions);
  expect(ndcg10.low).toBeGreaterThan(0);
  expect(recall6.low).toBeGreaterThan(0);
  expect(mrr.low).toBeGreaterThan(0);
});

test.each([0, 1])("either half is answered well: the questions at places of remainder %i", async (remainder) => {
  const { ndcg10 } = await compare(questions.filter((_, at) => at % 2 === remainder));
  expect(ndcg10.ours).toBeGreaterThan(0.68);
});

test.each([
  [[["a"]], 1, { ndcg10: 1, recall6: 1, mrr: 1 }],
  [[[], ["a"]], 1, { ndcg10: 1 / Math.log2(3), recall6: 1, mrr: 0.5 }],
  [[["a"], ["a"], ["a"]], 2, { ndcg10: 1 / (1 + 1 / Math.log2(3)), recall6: 0.5, mrr: 1 }],
  [[[], [], [], [], [], [], ["a"]], 1, { ndcg10: 1 / 3, recall6: 0, mrr: 1 / 7 }],
  [[["a", "b"]], 2, { ndcg10: 1, recall6: 1, mrr: 1 }],
  [[], 1, { ndcg10: 0, recall6: 0, mrr: 0 }],
])("a ranking that shows %j of %i sections", (found, wanted, quality) => {
  for (const key of ["ndcg10", "recall6", "mrr"] as const) expect(judge(found, wanted)[key]).toBeCloseTo(quality[key], 9);
});

test("the interval of a gain that is the same everywhere is that gain", () => {
  expect(bootstrapInterval([0.2, 0.2, 0.2], seededRandom(1), 100)).toEqual({ low: expect.closeTo(0.2, 9), high: expect.closeTo(0.2, 9) });
});

test("a section is named by its heading without marks and signature", () => {
  expect(sectionName("a.md", "`MockAgent.get(origin)`")).toBe("a.md#MockAgent.get");
  expect(sectionName("a.md", "Example:")).toBe("a.md#Example");
});
