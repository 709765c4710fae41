import { describe, expect, test } from "vitest";
import { diversify, diversityTokens, similarityOf } from "./diversity.ts";

const set = (text: string) => diversityTokens(text);

test.each([
  ["The Router_1 stands, E4.", ["the", "router_1", "stands", "e4"]],
  ["今天 天", ["今", "天", "今天"]],
  ["a今b天", ["a", "今", "b", "天"]],
  ["…!", []],
])("tokens of %s", (text, tokens) => {
  expect([...set(text)].sort()).toEqual([...tokens].sort());
});

test.each([
  ["a b c", "a b c", 1],
  ["a b c", "b c d", 0.5],
  ["a b", "c d", 0],
  ["", "", 1],
  ["a", "", 0],
])("similarity of %j and %j is %f", (a, b, similarity) => {
  expect(similarityOf(set(a), set(b))).toBeCloseTo(similarity, 9);
});

describe("order", () => {
  const rows = [
    { id: "a", score: 1, text: "one two three" },
    { id: "b", score: 0.9, text: "one two three" },
    { id: "c", score: 0.5, text: "four five six" },
  ];
  const order = (lambda: number, from = rows, enough = from.length) =>
    diversify(from, { lambda, textOf: (row) => row.text, isEnough: (taken) => taken.length >= enough }).map((row) => row.id);

  test("of lambda 1 is that of the scores", () => expect(order(1)).toEqual(["a", "b", "c"]));
  test("of lambda 0.5 puts what is new first", () => expect(order(0.5)).toEqual(["a", "c", "b"]));
  test("of lambda 0 does not look at scores after the first", () => expect(order(0)).toEqual(["a", "c", "b"]));
  test("of a lambda beyond its bounds is that at the bound", () => expect(order(7)).toEqual(order(1)));
  test("of a lambda that is no number is that of 0.7", () => expect(order(Number.NaN)).toEqual(order(0.7)));
  test("of equal values is that of the scores", () => {
    const equal = ["x", "y", "z"].map((id) => ({ id, score: 0.4, text: id }));
    expect(order(0.7, equal)).toEqual(["x", "y", "z"]);
  });
  test("ends when enough are taken, and keeps the rest", () => {
    expect(order(0.5, rows, 1)).toEqual(["a", "b", "c"]);
    expect(order(0.5, [])).toEqual([]);
  });
});
