import { expect, test } from "vitest";
import { toProse } from "./diary.ts";
import { hasMaterial, plainNarrative, quoted } from "./narrative.ts";
import { materialText } from "./narrator.ts";

const material = {
  day: "2026-04-10",
  agentId: "main",
  snippets: [
    "House: The boiler was serviced by Ana.",
    "User: I prefer green tea in the morning",
    "The ferry to the island leaves at nine on weekdays",
    "Nora's birthday is on 4 June",
    "The garden needs new bulbs before November",
    "The neighbour keeps the spare key",
  ],
  themes: ["boiler", "garden"],
  truths: ["The door code is 4711"],
  promotions: ["The door code is 4711"],
};

test("a night is told in the first person, in 80 to 180 words, the same way each time, and differently on other nights", () => {
  const told = plainNarrative(material);
  expect(told).toBe(plainNarrative(material));
  for (let day = 1; day <= 28; day += 1) {
    const text = plainNarrative({ ...material, day: `2026-05-${String(day).padStart(2, "0")}` });
    const words = text.split(/\s+/).length;
    expect(words, text).toBeGreaterThanOrEqual(80);
    expect(words, text).toBeLessThanOrEqual(180);
    expect(text).toMatch(/\bI\b/);
    expect(text).toContain("“The door code is 4711”");
    expect(text).not.toMatch(/undefined|NaN| {2}|\.\.|“”|User:/);
  }
  const nights = Array.from({ length: 14 }, (_, i) => plainNarrative({ ...material, day: `2026-05-${String(i + 1).padStart(2, "0")}` }));
  expect(new Set(nights.map((text) => text.split(".")[0])).size).toBeGreaterThan(2);
});

test("a night with one thing, with nothing kept, and with promotions alone reads as a text, too", () => {
  const nothing = { ...material, snippets: [], themes: [], truths: [], promotions: [] };
  expect(hasMaterial(nothing)).toBe(false);
  for (const one of [
    { ...nothing, snippets: ["The cat came home"] },
    { ...nothing, promotions: ["The door code is 4711", "Nora likes tea"] },
    { ...material, promotions: [] },
  ])
    for (let day = 1; day <= 20; day += 1)
      expect(plainNarrative({ ...one, day: `2026-06-${String(day).padStart(2, "0")}` })).toMatch(/^[A-Z][\s\S]*\.$/);
});

test("a quotation is cut at a word and has one pair of quotation marks", () => {
  expect(quoted('He said "no".')).toBe("“He said 'no'”");
  expect(quoted(`${"word ".repeat(40)}end`)).toMatch(/^“(?:word ){1,}…”$/);
});

test("prose of a model loses what is no prose, and too little of it counts as none", () => {
  const prose = `I walked through the notes of the day once more. ${"The boiler hummed in all of them and nobody minded. ".repeat(4)}`;
  expect(toProse(`# My dream\n\n*10 April*\n\n---\n${prose}\n<!-- svc:dreaming:diary:end -->`)).toBe(
    `${prose.trim()}\n\n svc:dreaming:diary:end`.replace("\n\n svc:dreaming:diary:end", " svc:dreaming:diary:end"),
  );
  expect(toProse("NO_REPLY")).toBeUndefined();
  const long = toProse("This is a sentence of six words. ".repeat(100)) ?? "";
  expect(long.split(/\s+/).length).toBeLessThanOrEqual(220);
  expect(long.endsWith(".")).toBe(true);
});

test("a model gets twelve statements, six subjects and five promotions at most, framed as text from outside", () => {
  const many = (count: number, word: string) => Array.from({ length: count }, (_, i) => `${word} ${i}`);
  const text = materialText({ ...material, snippets: many(30, "statement"), themes: many(30, "theme"), promotions: many(30, "promotion") });
  expect([text.match(/- statement/g)?.length, text.match(/- theme/g)?.length, text.match(/- promotion/g)?.length]).toEqual([12, 6, 5]);
  expect(text).toMatch(/^<<<EXTERNAL_UNTRUSTED_CONTENT id="[0-9a-f]{16}">>>/);
});
