import { type Logger, type MemoryHit, messageOf } from "svc/sdk";
import { extractKeywords } from "../engine/keywords.ts";
import { dayOf, isDailyNote } from "./days.ts";
import { loadState, saveState } from "./load-state.ts";
import { withDreamLock } from "./lock.ts";
import type { Signal } from "./recall-entry.ts";
import type { RecallStore } from "./recall-store.ts";
import { type Snippet, snippetsOf } from "./snippets.ts";
import { appendEvents, readText } from "./state-files.ts";

/** A search of an agent and its results. */
export interface RecalledSearch {
  workspace: string;
  query: string;
  hits: readonly MemoryHit[];
  /** Epoch ms. */
  at: number;
  timeZone?: string | undefined;
}

/** Searches that wait to be written down; the oldest is forgotten first. */
const MAX_WAITING = 200;
const MAX_NOTE_BYTES = 512 * 1024;
/** Statements of one passage that a search is taken to have meant. */
const MAX_PER_HIT = 2;
/** Part of the query's words that a statement must have to count as found by words. */
const MIN_SHARE = 0.5;
/** All words of a query are less than certainty: it may have meant something else. */
const MAX_WORD_SCORE = 0.9;

/** Writes searches down in the background: those that come while one batch is written are the next batch. */
export class RecallRecorder {
  readonly #logger: Pick<Logger, "debug">;
  readonly #signal: AbortSignal;
  readonly #waiting: RecalledSearch[] = [];
  #work: Promise<void> | undefined;

  constructor({ logger, signal }: { logger: Pick<Logger, "debug">; signal: AbortSignal }) {
    this.#logger = logger;
    this.#signal = signal;
  }

  /** Takes note of a search; nobody waits for it, and its failure is nobody's. */
  add(search: RecalledSearch): void {
    if (!search.hits.some(isRecallable)) return;
    if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift();
    this.#waiting.push(search);
    this.#work ??= this.#run();
  }

  /** Resolves when everything is written down. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async #run(): Promise<void> {
    // The search that brought the hits has its answer first.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && !this.#signal.aborted) {
      const [first] = this.#waiting;
      const batch = this.#waiting.filter(({ workspace }) => workspace === first?.workspace);
      this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter((one) => !batch.includes(one)));
      await recordSearches(first?.workspace ?? "", batch, this.#signal).catch((error: unknown) =>
        this.#logger.debug("dreaming: a search was not written down", { error: messageOf(error) }),
      );
    }
    this.#work = undefined;
  }
}

/** Dated notes and conversations; the long-term memory and other notes hold already what is to be kept. */
function isRecallable({ path, source }: MemoryHit): boolean {
  return source === "sessions" || isDailyNote(path);
}

/** Counts the results of searches for the statements that they found. @throws as `withDreamLock` and `loadState` */
export async function recordSearches(workspace: string, searches: readonly RecalledSearch[], signal: AbortSignal): Promise<void> {
  await withDreamLock(workspace, { signal }, async () => {
    const state = await loadState(workspace);
    const notes = new Map<string, readonly Snippet[]>();
    const at = Math.max(...searches.map((search) => search.at));
    const counted = new Set<string>();
    for (const search of searches)
      for (const found of await signalsOf(search, { workspace, notes, recall: state.recall })) {
        const entry = state.recall.add(found);
        if (entry) counted.add(entry.key);
      }
    if (counted.size === 0) return;
    await saveState(workspace, state, at);
    await appendEvents(workspace, [
      { type: "memory.recall.recorded", at: new Date(at).toISOString(), searches: searches.length, entries: [...counted].slice(0, 40) },
    ]);
  });
}

interface Notes {
  workspace: string;
  notes: Map<string, readonly Snippet[]>;
  recall: RecallStore;
}

async function signalsOf({ query, hits, at, timeZone }: RecalledSearch, { workspace, notes, recall }: Notes): Promise<Signal[]> {
  const common = { kind: "recall" as const, query, at, day: dayOf(at, timeZone) };
  const found: Signal[] = [];
  const words = extractKeywords(query.slice(0, 1_000), "unicode61");
  for (const hit of hits.filter(isRecallable)) {
    if (hit.source === "sessions") {
      for (const { path, startLine, endLine, snippet, ref } of spokenIn(hit, recall))
        found.push({ ...common, path, startLine, endLine, snippet, ref, score: relevanceOf(hit, snippet, words) });
      continue;
    }
    const { path } = hit;
    if (!notes.has(path))
      notes.set(path, snippetsOf((await readText(workspace, path.split("/"), MAX_NOTE_BYTES).catch(() => undefined)) ?? ""));
    for (const { text: snippet, startLine, endLine, isUntrusted } of meantBy(hit, words, notes.get(path) ?? [])) {
      // Words find passages that share one of them with the query; the statement was not meant then.
      if (hit.vectorScore === undefined && words.length > 0 && sharedWords(snippet, words) < MIN_SHARE * words.length) continue;
      found.push({ ...common, path, startLine, endLine, snippet, isUntrusted, score: relevanceOf(hit, snippet, words) });
    }
  }
  return found;
}

/** Messages of the corpus that stand in a passage of a transcript. */
function spokenIn({ path, startLine, endLine }: MemoryHit, recall: RecallStore) {
  return recall.entries.filter(({ ref }) => {
    const at = ref?.startsWith(`${path}#L`) ? Number(ref.slice(path.length + 2)) : Number.NaN;
    return at >= startLine && at <= endLine;
  });
}

/** A passage holds several statements: those count that share most words with the query. Without any, which meaning alone can find, the first does. */
function meantBy({ startLine, endLine }: MemoryHit, words: readonly string[], snippets: readonly Snippet[]): Snippet[] {
  const inside = snippets.filter((one) => one.startLine <= endLine && one.endLine >= startLine);
  const ranked = inside.map((snippet) => ({ snippet, shared: sharedWords(snippet.text, words) })).sort((a, b) => b.shared - a.shared);
  const most = ranked[0]?.shared ?? 0;
  if (most === 0) return inside.slice(0, 1);
  return ranked
    .filter(({ shared }) => shared === most)
    .slice(0, MAX_PER_HIT)
    .map(({ snippet }) => snippet);
}

/**
 * Score of a hit for a statement, 0 to 1. A score of words alone says how rare they are in this index, and is near 0 in a small one; there the share of the query's
 * words that the statement has counts, if it is more.
 */
export function relevanceOf(
  { score, vectorScore }: Pick<MemoryHit, "score" | "vectorScore">,
  snippet: string,
  words: readonly string[],
): number {
  const share = vectorScore !== undefined || words.length === 0 ? 0 : (MAX_WORD_SCORE * sharedWords(snippet, words)) / words.length;
  return Math.min(1, Math.max(0, score, share));
}

function sharedWords(text: string, words: readonly string[]): number {
  const lower = text.normalize("NFC").toLowerCase();
  return words.filter((word) => lower.includes(word)).length;
}
