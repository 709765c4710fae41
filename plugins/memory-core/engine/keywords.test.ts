import { expect, test } from "vitest";
import { extractKeywords } from "./keywords.ts";

test.each([
  ["Where is the router in the hall?", ["router", "hall"]],
  ["¿Dónde está la caldera de la cocina?", ["caldera", "cocina"]],
  ["Quando foi a reunião com o cliente?", ["reunião", "cliente"]],
  ["متى كان اجتماع العميل", ["اجتماع", "العميل"]],
  ["please help me find the stuff from yesterday", []],
  ["port 18789 and 42, s3 or E404", ["port", "18789", "s3", "e404"]],
  ["a1 b ab abc", ["a1", "abc"]],
  ["foo_bar --- !!! ___", ["foo_bar"]],
  ["Zürich ist schön", ["zürich", "schön"]],
])("%j is about %j", (query, keywords) => {
  expect(extractKeywords(query, "unicode61")).toEqual(keywords);
});

test("a Korean word also gives its stem without the particle", () => {
  expect(extractKeywords("서울에서 회의는", "unicode61")).toEqual(["서울에서", "서울", "회의는", "회의"]);
});

test("a Korean stem of one syllable is not cut off", () => {
  expect(extractKeywords("집은", "unicode61")).toEqual(["집은"]);
});

test("Japanese is split into runs of one script, single hiragana left out", () => {
  expect(extractKeywords("東京のルーターはWifi6です", "unicode61")).toEqual(["東京", "ルーター", "wifi6"]);
});

test("Chinese gives characters and pairs for words, runs and pairs for trigrams", () => {
  expect(extractKeywords("北京天气", "unicode61")).toEqual(["北", "京", "天", "气", "北京", "京天", "天气"]);
  expect(extractKeywords("北京天气", "trigram")).toEqual(["北京天气", "北京", "京天", "天气"]);
});

test("Latin letters glued to Chinese are a word of their own", () => {
  expect(extractKeywords("iphone手机", "trigram")).toEqual(["iphone", "手机"]);
});

test("decomposed letters are the same word as composed ones", () => {
  expect(extractKeywords("re\u0301sume\u0301", "unicode61")).toEqual(["résumé"]);
});

test("stop words of German and other languages count only in questions of these languages", () => {
  expect(extractKeywords("where are the man pages of war and die", "unicode61")).toEqual(["man", "pages", "war", "die"]);
  expect(extractKeywords("man pages", "unicode61")).toEqual(["man", "pages"]);
  expect(extractKeywords("wie kann man die Seiten ändern", "unicode61")).toEqual(["seiten", "ändern"]);
  expect(extractKeywords("comment les fichiers sont-ils traduits", "unicode61")).toEqual(["fichiers", "traduits"]);
});
