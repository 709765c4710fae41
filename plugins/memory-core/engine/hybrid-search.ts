import type { Tokenizer } from "../index-settings.ts";
import type { SearchReply } from "../worker-protocol.ts";
import type { Database } from "./database.ts";
import { codeOf } from "./fault.ts";
import { presentRows } from "./present.ts";
import { type QueryEmbedding, type QueryVector, startQueryEmbedding, within } from "./query-embedding.ts";
import { candidateCount, joinLegs, type RankedRow, type SearchMode } from "./ranking.ts";
import type { SearchParams } from "./search-types.ts";
import { findByWords } from "./text-leg.ts";
import type { VectorRow, VectorStore } from "./vector-store.ts";

/** A query that is embedded within this time needs no answer of words before. */
const INTERIM_AFTER_MS = 20;
/** A smaller index is searched by any words in a few milliseconds. */
const INTERIM_FROM_CHUNKS = 10_000;

/** The index as it is at one moment; a rebuild puts another one in its place. */
export interface SearchableIndex {
  db: Database;
  tokenizer: Tokenizer;
  vectors: VectorStore;
  chunks: number;
}

/** Whether meanings can be searched. */
export type VectorSide =
  | {
      kind: "ready";
      embedQuery(text: string, signal: AbortSignal): Promise<Float32Array>;
      /** Returns why a vector of `embedQuery` may not be compared with the index that `open` gives now: both change while a query is embedded. Undefined: it may. */
      mismatch?(): string | undefined;
    }
  /** Not requested. */
  | { kind: "off" }
  /** Configured, but missing for the moment; the reason is for people. */
  | { kind: "absent"; reason: string };

export interface SearchScope {
  /** The index that answers now; undefined when it is gone. */
  open(): SearchableIndex | undefined;
  vectors: VectorSide;
  /** Deadline by the monotonic clock: the results known by then are the answer. */
  deadlineMs: number;
  /** Wall clock, for the age of passages. */
  now(): number;
  /** Called with what is known so far when there is more to come that may take its time. */
  interim(reply: SearchReply): void;
  /** Passages from which on the second step of a search by words is told of before it begins; for tests. */
  interimFromChunks?: number;
}

/** Searches words while the query is being embedded, then vectors, and joins both. */
export async function hybridSearch(scope: SearchScope, params: SearchParams): Promise<SearchReply> {
  const index = scope.open();
  if (!index || params.query.trim() === "") return { hits: [], partial: false, mode: "fts-only" };
  const { vectors } = scope;
  if (vectors.kind !== "ready") return wordsOnly(scope, { index, params }, vectors.kind === "absent" ? vectors.reason : undefined);
  index.vectors.prepare();
  const embedding = startQueryEmbedding((signal) => vectors.embedQuery(params.query, signal), scope.deadlineMs);
  try {
    return await searchBoth(scope, { index, params }, { embedding, vectors });
  } finally {
    embedding.stop();
  }
}

interface IndexQuery {
  index: SearchableIndex;
  params: SearchParams;
}

async function searchBoth(
  scope: SearchScope,
  first: IndexQuery,
  { embedding, vectors }: { embedding: QueryEmbedding; vectors: Extract<VectorSide, { kind: "ready" }> },
): Promise<SearchReply> {
  const { params } = first;
  const mode: SearchMode = params.hybrid.enabled ? "hybrid" : "vector";
  // A caller that is left with words alone has to know that meanings were to be searched.
  const early: SearchScope = { ...scope, interim: (reply) => scope.interim({ ...reply, degraded: WORDS_SO_FAR }) };
  let words = mode === "hybrid" ? runWords(early, first) : undefined;
  const pending = embedding.wait();
  let query = await within(pending, performance.now() + INTERIM_AFTER_MS, undefined);
  if (!query) {
    // Meanwhile the index may have been replaced, or closed.
    if (words && scope.open()?.db === words.db) early.interim({ ...answer(scope, first, { words, mode: "fts-only" }), partial: true });
    query = await pending;
  }
  for (let index: SearchableIndex | undefined = scope.open(); index; index = scope.open()) {
    const now: IndexQuery = { index, params };
    if (words && words.db !== index.db) words = runWords(scope, now); // rows of a replaced index mean nothing
    const near = await findNear(scope, now, { query, mismatch: vectors.mismatch?.() });
    if (scope.open()?.db !== index.db) continue;
    if (near.kind === "found") return answer(scope, now, { words, vectors: near.rows, mode });
    const found = answer(scope, now, { words: words ?? runWords(scope, now), mode: "fts-only" });
    return { ...found, partial: found.partial || near.kind === "late", degraded: `only words were searched: ${near.reason}` };
  }
  return { hits: [], partial: false, mode: "fts-only" };
}

const WORDS_SO_FAR = "only words were searched: the time was up before meanings were compared";

type Near = { kind: "found"; rows: VectorRow[] } | { kind: "failed" | "late"; reason: string };

async function findNear(
  scope: SearchScope,
  { index, params }: IndexQuery,
  { query, mismatch }: { query: QueryVector; mismatch: string | undefined },
): Promise<Near> {
  if (query.kind === "failed") return { kind: "failed", reason: `the query could not be embedded (${query.reason})` };
  if (query.kind === "late") return { kind: "late", reason: "the query was not embedded in time" };
  if (mismatch !== undefined) return { kind: "failed", reason: mismatch };
  const { dims } = index.vectors;
  if (dims === undefined) return { kind: "failed", reason: "no passage has a vector yet" };
  if (dims !== query.vector.length) {
    return { kind: "failed", reason: `the index holds vectors of length ${dims}, the query has ${query.vector.length}` };
  }
  const candidates = candidateCount(params.maxResults, params.candidateMultiplier);
  const abandoned = new AbortController();
  try {
    const found = index.vectors.search(query.vector, candidates, params.sources, abandoned.signal);
    const rows = await within(found, scope.deadlineMs, undefined);
    return rows ? { kind: "found", rows } : { kind: "late", reason: "the vectors were not read in time" };
  } catch (error) {
    if (codeOf(error) !== "memory-sync-aborted") throw error;
    return { kind: "failed", reason: "the index was closed meanwhile" };
  } finally {
    abandoned.abort();
  }
}

function wordsOnly(scope: SearchScope, query: IndexQuery, reason: string | undefined): SearchReply {
  const found = answer(scope, query, { words: runWords(scope, query), mode: "fts-only" });
  return reason === undefined ? found : { ...found, degraded: `only words were searched: ${reason}` };
}

interface Words {
  /** The database its rows are of. */
  db: Database;
  rows: RankedRow[];
  isCut: boolean;
}

function runWords(scope: SearchScope, { index, params }: IndexQuery): Words {
  const { query, sources, maxResults } = params;
  const { db, tokenizer, chunks } = index;
  const candidates = candidateCount(maxResults, params.candidateMultiplier);
  const found = (rows: RankedRow[]) => {
    if (chunks < (scope.interimFromChunks ?? INTERIM_FROM_CHUNKS)) return;
    scope.interim({ ...answer(scope, { index, params }, { words: { db, rows, isCut: false }, mode: "fts-only" }), partial: true });
  };
  const isLate = () => performance.now() > scope.deadlineMs;
  return { db, ...findByWords({ db, tokenizer, chunks, found, isLate }, { query, sources, candidates, maxResults }) };
}

function answer(
  scope: SearchScope,
  { index, params }: IndexQuery,
  { words, vectors = [], mode }: { words: Words | undefined; vectors?: VectorRow[]; mode: SearchMode },
): SearchReply {
  const rows = joinLegs(words?.rows ?? [], vectors, { mode, weights: params.hybrid });
  const hits = presentRows({ db: index.db, tokenizer: index.tokenizer, params, mode, now: scope.now() }, rows);
  return { hits, partial: words?.isCut ?? false, mode };
}
