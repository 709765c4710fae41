import { expect, test } from "vitest";
import { instructionsFor } from "./instructions.ts";
import { promptStyle, promptStyles, settingsSchema } from "./settings.ts";

test("the defaults are those of the reference", () => {
  expect(settingsSchema.parse({})).toEqual({
    enabled: true,
    agents: [],
    allowedChatTypes: ["direct"],
    modelFallbackPolicy: "default-remote",
    queryMode: "recent",
    thinking: "off",
    timeoutMs: 15_000,
    maxSummaryChars: 220,
    recentUserTurns: 2,
    recentAssistantTurns: 1,
    recentUserChars: 220,
    recentAssistantChars: 180,
    cacheTtlMs: 15_000,
    logging: false,
    persistTranscripts: false,
    transcriptDir: "active-memory",
  });
});

test("amounts are taken at their limits and refused one past them", () => {
  const ranges: Record<string, [min: number, max: number]> = {
    timeoutMs: [250, 60_000],
    maxSummaryChars: [40, 1_000],
    recentUserTurns: [0, 4],
    recentAssistantTurns: [0, 3],
    recentUserChars: [40, 1_000],
    recentAssistantChars: [40, 1_000],
    cacheTtlMs: [1_000, 120_000],
  };
  for (const [key, [min, max]] of Object.entries(ranges)) {
    const verdicts = [min - 1, min, max, max + 1].map((value) => settingsSchema.safeParse({ [key]: value }).success);
    expect([key, ...verdicts]).toEqual([key, false, true, true, false]);
  }
  expect(settingsSchema.parse({ timeoutMs: "20s" }).timeoutMs).toBe(20_000);
});

test("the folder of transcripts is a relative name that leads nowhere else", () => {
  for (const name of ["kept", "a/b", "2026.01"])
    expect([name, settingsSchema.safeParse({ transcriptDir: name }).success]).toEqual([name, true]);
  for (const name of [
    "",
    ".",
    "..",
    "../x",
    "a/../../x",
    "/tmp/x",
    "~/x",
    "a\\..\\x",
    "a/",
    "a//b",
    ".hidden",
    "a\0b",
    "C:/x",
    "x".repeat(65),
  ])
    expect([name, settingsSchema.safeParse({ transcriptDir: name }).success]).toEqual([name, false]);
});

test("keys that nobody reads, and words that mean nothing, are refused", () => {
  for (const config of [
    { other: 1 },
    { queryMode: "some" },
    { promptStyle: "loud" },
    { allowedChatTypes: ["dm"] },
    { modelFallbackPolicy: "any" },
    { thinking: "a lot" },
  ])
    expect([config, settingsSchema.safeParse(config).success]).toEqual([config, false]);
});

test("the style follows the mode unless it is set, and each has words of its own", () => {
  const of = (config: object) => promptStyle(settingsSchema.parse(config));
  expect([of({ queryMode: "message" }), of({}), of({ queryMode: "full" }), of({ promptStyle: "preference-only" })]).toEqual([
    "strict",
    "balanced",
    "contextual",
    "preference-only",
  ]);
  const texts = new Set(promptStyles.map((style) => instructionsFor(settingsSchema.parse({ promptStyle: style }))));
  expect(texts.size).toBe(6);
});

test("promptOverride takes the place of the instructions, promptAppend follows either", () => {
  const usual = instructionsFor(settingsSchema.parse({ maxSummaryChars: 123 }));
  expect(usual).toContain("at most 123 characters");
  expect(instructionsFor(settingsSchema.parse({ promptOverride: "Do this." }))).toBe("Do this.");
  expect(instructionsFor(settingsSchema.parse({ promptOverride: "Do this.", promptAppend: "And that." }))).toBe("Do this.\n\nAnd that.");
  expect(instructionsFor(settingsSchema.parse({ promptAppend: "And that." }))).toMatch(/memory_search.*\n\nAnd that\.$/s);
});
