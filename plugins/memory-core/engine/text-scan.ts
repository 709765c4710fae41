import type { IndexSettings } from "../index-settings.ts";
import { type ChunkingSettings, chunkLines, splitLines } from "./chunker.ts";
import { hasCjk } from "./cjk.ts";
import type { DocumentGuard } from "./document-guard.ts";
import { stampOf } from "./file-documents.ts";
import { extractKeywords } from "./keywords.ts";
import { listMemory } from "./listing.ts";
import { isMarkdown } from "./memory-paths.ts";
import type { Pacer } from "./pacer.ts";
import { applyThreshold, candidateCount, compareRows, type PlacedRow } from "./ranking.ts";
import { readForIndex } from "./read-file.ts";
import type { IndexHit, SearchParams } from "./search-types.ts";
import { snippetOf } from "./snippet.ts";
import type { ListedFile } from "./walk.ts";

export interface TextScanScope {
  settings: Pick<IndexSettings, "workspace" | "extraPaths" | "chunking">;
  pacer: Pacer;
  guard: Pick<DocumentGuard, "during" | "stallOf">;
  /** Deadline by the monotonic clock. */
  deadlineMs: number;
}

/** Text read for one question; notes beyond it are left out. */
const MAX_SCANNED_BYTES = 64 * 1024 * 1024;
const MAX_TERMS = 32;

interface Found extends PlacedRow {
  endLine: number;
  text: string;
}

/**
 * Answers from the files themselves while there is no index: passages by the share of the question's words they hold. `isComplete` is false when time or
 * bytes ran out before the files did.
 */
export async function scanTexts(scope: TextScanScope, params: SearchParams): Promise<{ hits: IndexHit[]; isComplete: boolean }> {
  const terms = termsOf(params.query);
  if (terms.length === 0 || !params.sources.includes("memory")) return { hits: [], isComplete: true };
  const scan = new Scan(scope, terms, candidateCount(params.maxResults, params.candidateMultiplier));
  const isComplete = await scan.run();
  const lower = terms.map((term) => term.text);
  const shown = applyThreshold(scan.best(), params, "fts-only");
  const hits = shown.map(({ path, startLine, endLine, score, text }): IndexHit => {
    return { path, startLine, endLine, score, textScore: score, snippet: snippetOf(text, lower, params.maxSnippetChars), source: "memory" };
  });
  return { hits, isComplete };
}

interface Term {
  text: string;
  /** Words are compared whole; where scripts have no spaces, parts of a run are. */
  isWord: boolean;
}

function termsOf(query: string): Term[] {
  const keywords = extractKeywords(query.slice(0, 4_096), "unicode61");
  const chosen = keywords.length > 0 ? keywords : (folded(query).match(/[\p{L}\p{N}_]+/gu) ?? []);
  return chosen.slice(0, MAX_TERMS).map((text) => ({ text: folded(text), isWord: !hasCjk(text) }));
}

/** Lower case without accents, as the index compares. */
function folded(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .normalize("NFC")
    .toLowerCase();
}

class Scan {
  readonly #scope: TextScanScope;
  readonly #terms: readonly Term[];
  readonly #limit: number;
  #found: Found[] = [];
  #rows = 0;

  constructor(scope: TextScanScope, terms: readonly Term[], limit: number) {
    this.#scope = scope;
    this.#terms = terms;
    this.#limit = limit;
  }

  async run(): Promise<boolean> {
    const { settings, pacer, guard, deadlineMs } = this.#scope;
    const { files } = await listMemory(settings, pacer);
    let bytes = 0;
    for (const file of files) {
      await pacer.breathe();
      if (performance.now() > deadlineMs || bytes > MAX_SCANNED_BYTES) return false;
      const document = { path: file.path, stamp: stampOf(file) };
      if (!isMarkdown(file.path) || guard.stallOf(document) !== undefined) continue;
      bytes += file.size;
      guard.during(document, () => this.#read(file, settings.chunking));
    }
    return true;
  }

  best(): Found[] {
    return this.#found.sort(compareRows).slice(0, this.#limit);
  }

  #read(file: ListedFile, chunking: ChunkingSettings): void {
    const text = textOf(file);
    if (text === undefined || this.#share(folded(text)) === 0) return;
    for (const chunk of chunkLines(splitLines(text), chunking)) {
      const score = this.#share(folded(chunk.text));
      if (score === 0) continue;
      const { startLine, endLine } = chunk;
      this.#found.push({
        rowid: this.#rows++,
        score,
        textScore: score,
        exact: score === 1,
        path: file.path,
        startLine,
        endLine,
        text: chunk.text,
      });
    }
    if (this.#found.length > 4 * this.#limit) this.#found = this.best();
  }

  /** Share of the terms that a text holds. */
  #share(text: string): number {
    const words = new Set(text.match(/[\p{L}\p{N}_]+/gu) ?? []);
    const held = this.#terms.filter(({ text: term, isWord }) => (isWord ? words.has(term) : text.includes(term)));
    return held.length / this.#terms.length;
  }
}

function textOf(file: ListedFile): string | undefined {
  try {
    const content = readForIndex(file.absolute, file.real);
    return content.kind === "text" ? content.text : undefined;
  } catch {
    return undefined; // unreadable: the sync reports it
  }
}
