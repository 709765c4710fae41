import { table } from "./table.ts";

const START = "<!-- figures -->";
const END = "<!-- /figures -->";

/** Rows of `test/bench/RESULTS.md` that operators ask for, in their words. */
const asked: ReadonlyArray<readonly [metric: string, words: string]> = [
  ["P1 spawn → hello-ok", "from the start of the process to the first client"],
  ["P2 PSS idle", "memory at rest"],
  ["P7 1000 idle connections, PSS each", "memory of one connection"],
  ["P2 PSS after hybrid searches, 5033 chunks", "memory with 5,033 passages searched by vectors"],
  ["durable messages, 64 callers", "messages stored, 64 callers"],
  ["P10 /hooks/wake, 64 callers", "webhooks accepted and on disk, 64 callers"],
  ["P11 chat, first token, added", "added to a model's first word"],
  ["P11 chat, 8 callers, turns", "whole answers of a model that takes no time, 8 callers"],
  ["P12 full index of 10000 files", "notes indexed by words"],
  ["P14 keyword search, 10000 files, p95", "search by words in 10,000 files, 95 of 100"],
  ["hybrid search by the protocol, 5033 chunks, p50", "search by words and vectors, half of them"],
  ["P12 index size per chunk", "index on disk for each passage, words only"],
  ["P12 index size per chunk, embedded", "the same with vectors"],
];

/** The page of sizing with its figures written anew from the last whole run. @throws {Error} naming a row that the run lacks */
export function sizingPage(page: string, results: string): string {
  const [before, after] = [page.split(START)[0], page.split(END)[1]];
  if (before === undefined || after === undefined)
    throw new Error(`performance-and-sizing.md: expected ${START} and ${END} around the figures`);
  return `${before}${START}\n${figures(results)}\n${END}${after}`;
}

function figures(results: string): string {
  const [time = "", machine = ""] = [...results.matchAll(/^- (.*)$/gm)].map(([, line = ""]) => line);
  const ours = new Map(
    [...results.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)].map(([, metric = "", value = ""]) => [metric.trim(), value.trim()]),
  );
  const rows = asked.map(([metric, words]) => {
    const value = ours.get(metric);
    if (value === undefined) throw new Error(`test/bench/RESULTS.md has no row "${metric}"`);
    return [words, value];
  });
  const day = /^\d{4}-\d{2}-\d{2}/.exec(time)?.[0] ?? time;
  return [`On ${day}, with ${machine.replace(/, load .*/, "")}:`, "", table(["What", "Figure"], rows)].join("\n");
}
