import type { Tokenizer } from "../index-settings.ts";
import type { Database } from "./database.ts";
import { decayedScore, timeOf } from "./decay.ts";
import { diversify } from "./diversity.ts";
import { MAX_QUERY_CHARS } from "./keyword-query.ts";
import { extractKeywords } from "./keywords.ts";
import { prepared } from "./prepared.ts";
import { applyThreshold, compareRows, type PlacedRow, type ScoredRow, type SearchMode } from "./ranking.ts";
import type { IndexHit, SearchParams } from "./search-types.ts";
import { snippetOf } from "./snippet.ts";

interface Presentation {
  db: Database;
  tokenizer: Tokenizer;
  params: SearchParams;
  mode: SearchMode;
  /** Epoch ms. */
  now: number;
}

interface Passage {
  endLine: number;
  source: IndexHit["source"];
  text: string;
}

/** Ages, orders and cuts what the legs found; texts are read only of what is shown (with diversity: of all candidates). */
export function presentRows(how: Presentation, rows: readonly ScoredRow[]): IndexHit[] {
  const { params, mode } = how;
  const read = createReader(how);
  const ordered = placeRows(how, rows).sort(compareRows);
  const order = params.mmr.enabled
    ? diversify(ordered, {
        lambda: params.mmr.lambda,
        textOf: (row) => read(row.rowid).snippet,
        isEnough: (taken) => taken.filter((row) => row.score >= params.minScore).length >= params.maxResults,
      })
    : ordered;
  return applyThreshold(order, params, mode).map((row) => toHit(row, read(row.rowid)));
}

function placeRows({ db, params, now }: Presentation, rows: readonly ScoredRow[]): PlacedRow[] {
  const { enabled, halfLifeDays } = params.temporalDecay;
  const find = prepared(db, "SELECT path, start_line AS startLine, source FROM chunks WHERE rowid = ?");
  const modified = prepared(db, "SELECT mtime FROM files WHERE source = ? AND path = ?").pluck();
  return rows.flatMap((row): PlacedRow[] => {
    const at = find.get(row.rowid) as { path: string; startLine: number; source: string } | undefined;
    if (!at) return []; // gone since the leg found it
    const { path, startLine, source } = at;
    if (!enabled) return [{ ...row, path, startLine }];
    const from = timeOf(path, modified.get(source, path) as number | undefined);
    return [{ ...row, path, startLine, score: decayedScore(row.score, { at: from, now, halfLifeDays }) }];
  });
}

type Shown = Omit<Passage, "text"> & { snippet: string };

function createReader({ db, tokenizer, params }: Presentation): (rowid: number) => Shown {
  const find = prepared(db, "SELECT end_line AS endLine, source, text FROM chunks WHERE rowid = ?");
  const terms = extractKeywords(params.query.slice(0, MAX_QUERY_CHARS), tokenizer);
  const known = new Map<number, Shown>();
  return (rowid) => {
    let shown = known.get(rowid);
    if (!shown) {
      const { text, ...rest } = find.get(rowid) as Passage;
      shown = { ...rest, snippet: snippetOf(text, terms, params.maxSnippetChars) };
      known.set(rowid, shown);
    }
    return shown;
  };
}

function toHit(row: PlacedRow, { endLine, snippet, source }: Shown): IndexHit {
  const { path, startLine, score, vectorScore, textScore } = row;
  return {
    path,
    startLine,
    endLine,
    score,
    ...(vectorScore === undefined ? {} : { vectorScore }),
    ...(textScore === undefined ? {} : { textScore }),
    snippet,
    source,
  };
}
