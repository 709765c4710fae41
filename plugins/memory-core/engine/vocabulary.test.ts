import { afterEach, expect, test } from "vitest";
import { addToIndex, createTestIndex, type TestIndex } from "../test-index.ts";
import { mistakesBetween, openVocabulary } from "./vocabulary.ts";

let open: TestIndex[] = [];
afterEach(() => {
  for (const index of open) index.close();
  open = [];
});

function wordsOf(text: string) {
  const index = createTestIndex();
  open.push(index);
  addToIndex(index, { "memory/a.md": text });
  return openVocabulary(index.db);
}

test("forms of a word are the words of the index with its stem, by the language", () => {
  const english = wordsOf("validate validates validator validation valid-ish value");
  expect(english.formsOf("validating", ["english"]).sort()).toEqual(["valid", "validate", "validates", "validation", "validator"]);
  expect(wordsOf("Übersetzungen übersetzt Übersee").formsOf("übersetzen", ["german"]).sort()).toEqual(["ubersetzt", "ubersetzungen"]);
  expect(wordsOf("traduite traductions trafic").formsOf("Traduction", ["french"])).toEqual(["traductions"]);
});

test("a misspelt word has the nearest words of the index, those in most passages first", () => {
  const words = wordsOf("register registry clone close settings setting");
  expect(words.nearTo("regsiter")).toEqual(["register"]);
  expect(words.nearTo("clsoe")).toEqual(["close"]);
  expect(words.nearTo("setings")).toEqual(["settings"]);
  expect(words.nearTo("ergister")).toEqual(["register"]);
});

test("short words and words with digits are not taken for misspelt", () => {
  const words = wordsOf("cat e4041 room");
  expect(words.nearTo("cta")).toEqual([]);
  expect(words.nearTo("e4042")).toEqual([]);
  expect(words.nearTo("roam")).toEqual(["room"]);
});

test("no more than a bounded number of words is read for one question", () => {
  const many = [...Array.from({ length: 21_000 }, (_, i) => `re${100_000 + i}`)];
  const words = wordsOf([...many, "rezzzzzy"].join(" "));
  expect(words.nearTo("rezzzzz")).toEqual([]);
  expect(wordsOf("rezzzzzy").nearTo("rezzzzz")).toEqual(["rezzzzzy"]);
});

test.each([
  ["retry", "retry", 2, 0],
  ["retry", "rety", 2, 1],
  ["retry", "rtery", 2, 1],
  ["retry", "retries", 2, 3],
  ["connection", "conection", 1, 1],
  ["connection", "konektion", 2, 3],
  ["", "ab", 2, 2],
  ["abcdef", "ab", 2, 3],
])("between %j and %j lie mistakes, counted up to %i", (a, b, most, mistakes) => {
  expect(mistakesBetween(a, b, most)).toBe(mistakes);
  expect(mistakesBetween(b, a, most)).toBe(mistakes);
});
