import { describe, expect, test } from "vitest";
import type { ProviderView } from "./providers/provider-choice.ts";
import { searchResult, unavailableResult, withNotes } from "./search-result.ts";
import type { AgentMemorySettings } from "./settings.ts";
import { resolveMemorySettings } from "./settings.ts";
import { parseTestConfig } from "./test-config.ts";

const settings = resolveMemorySettings(parseTestConfig({}), "/state")[0] as AgentMemorySettings;
const view: ProviderView = { state: "provider", provider: "openai", model: "m" };
const hit = { path: "MEMORY.md", startLine: 1, endLine: 2, score: 0.5, snippet: "x", source: "memory" as const };
const reply = { hits: [], partial: false, mode: "fts-only" as const };

test.each(["openai: 429 Too Many Requests", "insufficient_quota", "the quota of this month is used up"])(
  "%s has the wording of a quota",
  (error) => {
    expect(unavailableResult({ settings, view }, { error })).toEqual({
      results: [],
      provider: "openai",
      model: "m",
      fallback: null,
      citations: "auto",
      mode: "fts-only",
      disabled: true,
      unavailable: true,
      error,
      warning: "Memory search is not available: the quota of the embedding provider is used up.",
      action: "top up the embedding provider, or set another memorySearch.provider",
    });
  },
);

test("digits that only look like a status are no quota", () => {
  expect(unavailableResult({ settings, view }, { error: "port 14290 refused" }).warning).not.toContain("quota");
});

test("the stand-in names who it stands in for", () => {
  const by = { settings, view: { ...view, provider: "voyage", fallback: { from: "openai", reason: "503" } } };
  expect(searchResult(by, [hit], { mode: "hybrid" })).toMatchObject({
    provider: "voyage",
    fallback: "openai",
    mode: "hybrid",
    results: [hit],
  });
});

test("who embedded is named, not who took its place meanwhile", () => {
  const embedder = { provider: "voyage", model: "v" };
  const by = { settings, view: { ...view, fallback: { from: "gemini", reason: "503" } } };
  expect(searchResult(by, [hit], { mode: "hybrid", embedder })).toMatchObject({ provider: "voyage", model: "v", fallback: null });
});

describe("what an answer tells about itself", () => {
  const by = { settings, view };
  const failing = { settings, view: { ...view, error: "openai: 503" } };
  const noted = (at: typeof by, own: object, results = [hit]) => withNotes(searchResult(at, results), at, { ...reply, ...own });

  test("nothing, when it is whole", () => {
    expect(noted(by, {})).toEqual(searchResult(by, [hit]));
  });

  test("that it was cut off, and after how long", () => {
    expect(noted(by, { partial: true })).toMatchObject({
      partial: true,
      warning: "the search was cut off after 4000 ms; there may be more",
    });
  });

  test("that nothing could be searched, and why", () => {
    const outage = "indexing memory/a.md takes longer than 10 s";
    expect(noted(by, { partial: true, degraded: outage, outage }, [])).toMatchObject({ unavailable: true, error: outage, results: [] });
  });

  test("that it was found with less than is configured, and why; both reasons when there are two", () => {
    expect(noted(failing, { degraded: "openai: 503" })).toMatchObject({ degraded: true, warning: "openai: 503", results: [hit] });
    expect(noted(failing, { degraded: "openai: 503" })).not.toHaveProperty("unavailable");
    expect(noted(failing, { degraded: "openai: 503", partial: true }).warning).toMatch(/^the search was cut off.*; openai: 503$/);
  });

  test("that it knows nothing, when words found nothing and meanings could not be asked", () => {
    expect(noted(failing, { degraded: "openai: 503" }, [])).toMatchObject({
      unavailable: true,
      error: "openai: 503",
      action: expect.any(String),
    });
  });

  test("nothing more than that there is no hit, where words are all that is configured", () => {
    expect(noted(failing, {}, [])).toEqual(searchResult(failing, []));
  });

  test("an index that is being repaired and holds no such word is no failure of the provider", () => {
    expect(noted(by, { degraded: "the index is being rebuilt" }, [])).not.toHaveProperty("unavailable");
  });
});
