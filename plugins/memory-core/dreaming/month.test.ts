import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { noon, testDeps, testNotes } from "../../../test/fixtures/dreams.ts";
import { atFailpoints } from "../../../test/fixtures/failpoints.ts";
import { recordSearches } from "./recall-recorder.ts";
import { sweep } from "./sweep.ts";
import { createRandom, facts, householdMonth, promotionsIn } from "./test-month.ts";

const seed = Number(process.env.SVC_TEST_SEED ?? 20_260_401);
const DAYS = 9;

/** The long form, with a gateway, chats and a model, is test/e2e/dreaming.long.test.ts. */
test(`nine nights, most of them cut off somewhere, leave the notes as they are and promote what was asked for (seed ${seed})`, async () => {
  const random = createRandom(seed);
  const { days, withdrawn } = householdMonth(random, DAYS);
  const own = "# What I keep\n\nMy own line.\n";
  const notes = testNotes({ "MEMORY.md": own });
  const written = new Map<string, string>();
  const put = (day: string, text: string) => {
    written.set(`memory/${day}.md`, text);
    notes.write(`memory/${day}.md`, text);
  };
  let killed = 0;
  for (const { day, note, rewritten, questions } of days) {
    put(day, note);
    for (const [name, text] of rewritten) put(name, text);
    for (const [index, { fact, query }] of questions.entries()) {
      const found = [...written].find(([, text]) => text.includes(fact.text));
      const line = (found?.[1] ?? "").split("\n").findIndex((one) => one.includes(fact.text)) + 1;
      const hits = found ? [{ path: found[0], startLine: line, endLine: line, score: 0.9, snippet: "", source: "memory" as const }] : [];
      await recordSearches(
        notes.root,
        [{ workspace: notes.root, query, hits, at: noon(day) + index * 60_000, timeZone: "UTC" }],
        new AbortController().signal,
      );
    }
    const night = testDeps(() => noon(day) + 15 * 3_600_000);
    for (let tries = 0; tries < 3; tries += 1) {
      let left = tries < 2 ? random(60) : Number.POSITIVE_INFINITY;
      // Nothing is written after a kill: every step of a write names itself.
      const stop = atFailpoints(() => {
        if (left-- <= 0) throw new Error("killed");
      });
      const end = await sweep({ workspace: notes.root, agentIds: ["main"] }, night).catch(() => undefined);
      stop();
      if (end) break;
      killed += 1;
    }
  }
  expect(killed).toBeGreaterThan(3);
  for (const [path, text] of written) expect(notes.read(path), path).toBe(text);
  const memory = notes.read("MEMORY.md");
  expect(memory.startsWith(own)).toBe(true);
  const promoted = promotionsIn(memory);
  expect(new Set(promoted.map(({ key }) => key)).size).toBe(promoted.length);
  expect(new Set(promoted.map(({ text }) => text)).size).toBe(promoted.length);
  expect(promoted.length).toBeGreaterThan(0);
  for (const { text, score, path } of promoted) {
    expect(score).toBeGreaterThanOrEqual(0.8);
    expect(
      facts.map((fact) => fact.text),
      text,
    ).toContain(text.replace(/^[A-Z][a-z]+: /, ""));
    expect(withdrawn.has(text) || (written.get(path) ?? "").includes(text.replace(/^[A-Z][a-z]+: /, "")), text).toBe(true);
  }
  expect(notes.read("DREAMS.md").match(/^---$/gm)?.length).toBeLessThanOrEqual(DAYS + promoted.length);
  expect(readdirSync(notes.path("memory/.dreams")).filter((name) => !/^(?:events\.jsonl|[a-z-]+\.json)$/.test(name))).toEqual([]);
}, 120_000);
