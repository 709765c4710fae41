import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SearchParams } from "../../plugins/memory-core/engine/search-types.ts";
import { seededRandom } from "../../plugins/memory-core/test-vectors.ts";
import type { Corpus } from "./corpora.ts";
import { trainModel } from "./distributional-model.ts";
import { builtin, byRanks, type Engine, hybrid, indexOf, plain, qualities } from "./engines.ts";
import { type Estimate, estimate, measures, type Quality } from "./metrics.ts";

/** Qualities of one engine on one corpus, by question, and how long its searches took. */
export interface Run {
  corpus: string;
  engine: string;
  qualities: Quality[];
  ms: number[];
}

export interface Comparison {
  runs: Run[];
  /** By corpus: which questions were held out. */
  held: Map<string, boolean[]>;
  /** By corpus: passages and bytes of the index of each. */
  sizes: Map<string, { files: number; chunks: number; bytesPerChunk: number }>;
}

const before = "builtin before";
/** Pairs of engines whose difference is shown. */
const pairs: ReadonlyArray<readonly [string, string]> = [
  ["builtin", "plain OR"],
  ["builtin", before],
  ["hybrid, ranks", "hybrid, weighted"],
  ["hybrid, ranks", "hybrid, 0.5 0.5"],
  ["hybrid, ranks", "hybrid, 0.3 0.7"],
];

function weighted(vectorWeight: number): Pick<SearchParams, "hybrid"> {
  return { hybrid: { enabled: true, vectorWeight, textWeight: 1 - vectorWeight } };
}

/** Searches all corpora by all engines. */
export async function compareEngines(corpora: readonly Corpus[], engines: Record<string, Engine> = {}): Promise<Comparison> {
  const comparison: Comparison = { runs: [], held: new Map(), sizes: new Map() };
  const model = trainModel(corpora.flatMap(({ files }) => Object.values(files)));
  const embed = async (text: string) => model.embed(text);
  const all: Record<string, Engine> = {
    "plain OR": plain,
    builtin,
    "hybrid, weighted": hybrid(embed),
    "hybrid, 0.5 0.5": hybrid(embed, weighted(0.5)),
    "hybrid, 0.3 0.7": hybrid(embed, weighted(0.3)),
    "hybrid, ranks": byRanks(embed),
    ...engines,
  };
  for (const corpus of corpora) {
    const index = indexOf(corpus, (text) => model.embed(text));
    const { name, questions, files } = corpus;
    comparison.held.set(
      name,
      questions.map(({ isHeld }) => isHeld),
    );
    const pages = Number(index.db.pragma("page_count", { simple: true })) * Number(index.db.pragma("page_size", { simple: true }));
    comparison.sizes.set(name, { files: Object.keys(files).length, chunks: index.chunks, bytesPerChunk: pages / index.chunks });
    for (const [engine, search] of Object.entries(all)) {
      const ms: number[] = [];
      const timed: Engine = async (...asked) => {
        const started = performance.now();
        const found = await search(...asked);
        ms.push(performance.now() - started);
        return found;
      };
      comparison.runs.push({ corpus: name, engine, qualities: await qualities(timed, index, corpus, questions), ms });
    }
    const old = recorded()[name];
    if (old) comparison.runs.push({ corpus: name, engine: before, qualities: old, ms: [] });
    index.close();
  }
  return comparison;
}

/** Qualities of keyword search before the ranking was changed, by question. */
export function recorded(): Record<string, Quality[]> {
  const lines = readFileSync(join(import.meta.dirname, "recorded/before.csv"), "utf8").split("\n");
  const found: Record<string, Quality[]> = {};
  for (const line of lines.filter((one) => one !== "" && !one.startsWith("#"))) {
    const [corpus = "", ...values] = line.split(",");
    const [ndcg10 = 0, mrr10 = 0, recall10 = 0] = values.map(Number);
    found[corpus] = [...(found[corpus] ?? []), { ndcg10, mrr10, recall10 }];
  }
  return found;
}

/** Values of a measure of one engine on one half of a corpus. */
function valuesOf(
  { runs, held }: Comparison,
  corpus: string,
  engine: string,
  { measure, isHeld }: { measure: keyof Quality; isHeld: boolean },
): number[] {
  const run = runs.find((one) => one.corpus === corpus && one.engine === engine);
  return (run?.qualities ?? []).filter((_, at) => held.get(corpus)?.[at] === isHeld).map((quality) => quality[measure]);
}

/** The mean of the corpora, each weighing the same, of one engine or of the differences between two. */
export function meanOver(
  comparison: Comparison,
  what: { engine: string; minus?: string; measure: keyof Quality; isHeld: boolean; corpora?: string[] },
): Estimate {
  const corpora = what.corpora ?? [...comparison.held.keys()];
  const groups = corpora.map((corpus) => {
    const values = valuesOf(comparison, corpus, what.engine, what);
    const others = what.minus === undefined ? undefined : valuesOf(comparison, corpus, what.minus, what);
    return others ? values.map((value, at) => value - (others[at] ?? 0)) : values;
  });
  return estimate(groups, seededRandom(17));
}

/** The table of the README: a half's qualities with their intervals, the differences, latency and size. */
export function formatTable(comparison: Comparison, isHeld: boolean): string {
  const engines = [...new Set(comparison.runs.map(({ engine }) => engine))];
  const rows: string[] = [`| corpus | engine | ${measures.join(" | ")} | p50, p95 ms |`, "|---|---|---|---|---|---|"];
  const names = [...comparison.held.keys()];
  for (const corpora of [...names.map((name) => [name]), names]) {
    for (const engine of engines) {
      const cells = measures.map((measure) => formatEstimate(meanOver(comparison, { engine, measure, isHeld, corpora })));
      const ms = comparison.runs.filter((run) => run.engine === engine && corpora.includes(run.corpus)).flatMap((run) => run.ms);
      rows.push(`| ${corpora.length === 1 ? corpora[0] : "mean"} | ${engine} | ${cells.join(" | ")} | ${formatTimes(ms)} |`);
    }
    for (const [engine, minus] of pairs.filter((pair) => pair.every((name) => engines.includes(name)))) {
      const cells = measures.map((measure) => formatEstimate(meanOver(comparison, { engine, minus, measure, isHeld, corpora }), true));
      rows.push(`| ${corpora.length === 1 ? corpora[0] : "mean"} | ${engine} − ${minus} | ${cells.join(" | ")} | |`);
    }
  }
  return rows.join("\n");
}

function formatEstimate({ mean, low, high }: Estimate, isDifference = false): string {
  const text = (value: number) => `${isDifference && value >= 0 ? "+" : ""}${value.toFixed(3)}`.replace("-", "−");
  return `${text(mean)} (${text(low)} … ${text(high)})`;
}

function formatTimes(ms: readonly number[]): string {
  if (ms.length === 0) return "";
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return `${at(0.5)}, ${at(0.95)}`;
}
