import { expect, test } from "vitest";
import { expandKeywords } from "./query-terms.ts";
import type { Vocabulary } from "./vocabulary.ts";

function vocabularyOf({
  words,
  forms = {},
  near = {},
}: {
  words: string[];
  forms?: Record<string, string[]>;
  near?: Record<string, string[]>;
}) {
  const asked: Array<[string, readonly string[]]> = [];
  const vocabulary: Vocabulary = {
    count: (word) => (words.includes(word) ? 1 : 0),
    formsOf(word, languages) {
      asked.push([word, languages]);
      return forms[word] ?? [];
    },
    nearTo: (word) => near[word] ?? [],
  };
  return { vocabulary, asked };
}

const formsOf = (text: string, keywords: string[], about: Parameters<typeof vocabularyOf>[0]) =>
  expandKeywords(text, keywords, { vocabulary: vocabularyOf(about).vocabulary, chunks: 100 }).map(({ word, forms }) => [
    word,
    ...forms.keys(),
  ]);

test("a word stands for its forms, those of its family a little less", () => {
  const { vocabulary } = vocabularyOf({ words: ["validated"], forms: { validated: ["validates", "validator"] } });
  const [group] = expandKeywords("validated", ["validated"], { vocabulary, chunks: 100 });
  expect([...(group?.forms ?? [])].map(([form, weight]) => [form, weight < 1])).toEqual([
    ["validated", false],
    ["validates", true],
    ["validator", true],
  ]);
  expect(group?.forms.get("validates")).toBeGreaterThan(group?.forms.get("validator") ?? 1);
});

test("words in a row count as the one word that the index makes of them", () => {
  const words = ["body", "limit", "bodylimit", "maxbodylimit", "login", "log"];
  expect(formsOf("the body limit", ["body", "limit"], { words })).toEqual([
    ["body", "body", "bodylimit"],
    ["limit", "limit", "bodylimit"],
  ]);
  expect(formsOf("max body limit", ["body"], { words })[0]).toContain("maxbodylimit");
  expect(formsOf("how to log in", ["log"], { words })).toEqual([["log", "log", "login"]]);
});

test("only a word that the index has not is taken for misspelt", () => {
  const near = { regsiter: ["register"], known: ["knows"] };
  expect(formsOf("regsiter", ["regsiter"], { words: [], near, forms: { register: ["registers"] } })).toEqual([
    ["regsiter", "regsiter", "register", "registers"],
  ]);
  expect(formsOf("known", ["known"], { words: ["known"], near })).toEqual([["known", "known"]]);
});

test.each([
  ["how are the dictionaries translated", ["english"]],
  ["wie werden die dateien übersetzt", ["german"]],
  ["comment sont traduits les dictionnaires", ["french"]],
  ["как перевести файлы", ["russian"]],
  ["перевод", ["russian"]],
  ["router", ["english"]],
])("%s is cut by the rules of its language", (text, languages) => {
  const { vocabulary, asked } = vocabularyOf({ words: [] });
  expandKeywords(text, ["word"], { vocabulary, chunks: 100 });
  expect(asked[0]).toEqual(["word", languages]);
});

test("a word that is nearly everywhere has no other forms", () => {
  const { vocabulary } = vocabularyOf({ words: ["gateway"], forms: { gateway: ["gateways"] } });
  const formsIn = (chunks: number) => [...(expandKeywords("gateway", ["gateway"], { vocabulary, chunks })[0]?.forms.keys() ?? [])];
  expect(formsIn(100)).toEqual(["gateway", "gateways"]);
  expect(formsIn(4)).toEqual(["gateway"]);
});
