import type { ProgressPhase } from "../worker-protocol.ts";
import type { ChunkingSettings } from "./chunker.ts";
import type { DocumentGuard, LeftOut } from "./document-guard.ts";
import type { DocumentContent, DocumentRow, DocumentSource, IndexDocument } from "./documents.ts";
import { createVectorizer, type Vectorizer, type VectorPlan } from "./embedding/vectorizer.ts";
import { codeOf, reasonOf } from "./fault.ts";
import { type Pacer, paced } from "./pacer.ts";
import { mediaPassage, type Passages, passageSteps } from "./passages.ts";
import { createWriter, type IndexWriter, type PassageVector } from "./writer.ts";
import { createWriteQueue, type OpenIndex, type WriteQueue } from "./writing.ts";

/**
 * Input of a sync besides the database. Files and transcripts are both documents (`documents.ts`): another kind of memory is another `DocumentSource` in
 * `sources` (put together by `sync-scheduler.ts` for each sync, so that a sync may leave a source alone), and nothing here.
 */
export interface SyncScope {
  sources: readonly DocumentSource[];
  chunking: ChunkingSettings;
  /** Model in the ids of new chunks. */
  model: string;
  vectors: VectorPlan;
  pacer: Pacer;
  guard: DocumentGuard;
  now(): number;
  progress(phase: ProgressPhase, done: number, total: number): void;
}

export interface SyncOutcome {
  /** Documents written anew and documents taken out. */
  changed: number;
  removed: number;
  /** Documents, or passages of them, that were skipped, with the reason. */
  skipped: Array<{ path: string; code: string }>;
}

/** Brings an index up to date with its sources. Many documents share a transaction, one document never spans two. */
export async function syncDocuments(index: OpenIndex, scope: SyncScope): Promise<SyncOutcome> {
  const outcome: SyncOutcome = { changed: 0, removed: 0, skipped: [] };
  const queue = createWriteQueue(index, scope.pacer);
  scope.progress("scan", 0, 0);
  for (const source of scope.sources) await new SourceSync({ index, scope, source, outcome, queue }).run();
  return outcome;
}

interface Parts {
  index: OpenIndex;
  scope: SyncScope;
  source: DocumentSource;
  outcome: SyncOutcome;
  queue: WriteQueue;
}

/** One source at a time: read, cut, embed, write. */
class SourceSync {
  readonly #parts: Parts;
  readonly #writer: IndexWriter;
  readonly #vectorizer: Vectorizer;
  #total = 0;
  #settled = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { index, scope, source, queue } = parts;
    this.#writer = createWriter({ ...index, source: source.source, model: scope.model, now: scope.now });
    this.#vectorizer = createVectorizer(index, {
      plan: scope.vectors,
      pacer: scope.pacer,
      now: scope.now,
      answered: (remember) => {
        if (remember) queue.add(remember);
        scope.progress("embed", this.#settled, this.#total);
        return queue.flush();
      },
    });
  }

  async run(): Promise<void> {
    const { scope, source, queue } = this.#parts;
    const known = this.#writer.known(source.only);
    const { documents, isComplete, problems } = await source.list(known, scope.pacer);
    if (source.only === undefined) scope.guard.startOver(source.source);
    for (const problem of problems) this.#leaveOut(problem);
    this.#total = documents.length;
    for (const document of documents) {
      await scope.pacer.breathe();
      const row = known.get(document.path);
      known.delete(document.path);
      const stall = scope.guard.stallOf(document);
      if (stall !== undefined) this.#drop(document, row, stall);
      else if (row && document.isUnchanged(row)) this.#settled++;
      else await this.#take(document, row);
      if (queue.isFull) await queue.flush();
    }
    await this.#vectorizer.drain();
    if (isComplete) await this.#removeAll(known.keys());
    await queue.flush();
  }

  async #removeAll(paths: Iterable<string>): Promise<void> {
    const { scope, outcome, queue } = this.#parts;
    for (const path of paths) {
      await scope.pacer.breathe();
      this.#settle({ path });
      this.#remove(path);
      outcome.removed++;
      if (queue.isFull) await queue.flush();
    }
  }

  async #take(document: IndexDocument, row: DocumentRow | undefined): Promise<void> {
    const content = await this.#read(document);
    if (!content) return;
    if (content.kind === "skipped") return this.#drop(document, row, content.code);
    if (content.kind === "gone") {
      this.#settle(document);
      if (row) this.#remove(document.path);
      return;
    }
    if (row?.hash === content.hash) return this.#touch(document, content);
    if (content.kind === "media") return this.#takeMedia(document, content);
    const passages = await this.#cut(document, content);
    if ("failure" in passages) return this.#drop(document, row, passages.failure);
    const skip = (reason: string) => this.#skip(document, reason);
    await this.#vectorizer.vectorsOf(passages.list, { skip, ready: (found) => this.#put(document, { content, passages, found }) });
  }

  async #read(document: IndexDocument): Promise<DocumentContent | undefined> {
    const { guard } = this.#parts.scope;
    try {
      return await document.read((work) => guard.during(document, work));
    } catch (error) {
      this.#leaveOut({ path: document.path, code: codeOf(error) ?? "EIO" });
      return undefined;
    }
  }

  /** Fails for one document alone. */
  async #cut(document: IndexDocument, content: Extract<DocumentContent, { kind: "text" }>): Promise<Passages | { failure: string }> {
    const { chunking, vectors, pacer, guard } = this.#parts.scope;
    const { path } = document;
    const { text, lineNumbers } = content;
    try {
      const steps = passageSteps(text, { path, chunking, lineNumbers, maxTextBytes: vectors.maxTextBytes });
      return await paced(guard.steps(document, steps), pacer);
    } catch (error) {
      if (codeOf(error) === "memory-sync-aborted") throw error;
      return { failure: reasonOf(error) };
    }
  }

  /** Media without a vector are of no use, so they wait for a provider; one that the provider refuses is remembered as seen. */
  async #takeMedia(document: IndexDocument, content: Extract<DocumentContent, { kind: "media" }>): Promise<void> {
    const verdict = await this.#vectorizer.mediaVector(content.media);
    if (verdict === "later") return;
    const isRefused = !(verdict instanceof Float32Array);
    if (isRefused) this.#skip(document, verdict.skipped);
    const passages = mediaPassage(content.media, { path: document.path, dataHash: content.hash });
    this.#put(document, { content, passages: isRefused ? { ...passages, list: [] } : passages, found: isRefused ? [] : [verdict] });
  }

  #put(
    document: IndexDocument,
    { content, passages, found }: { content: Stamp; passages: Passages; found: readonly PassageVector[] },
  ): void {
    const { queue, outcome, scope } = this.#parts;
    const { hash, mtimeMs, size } = content;
    outcome.changed++;
    this.#settled++;
    this.#settle(document);
    const run = () => scope.guard.steps(document, this.#writer.put({ path: document.path, hash, mtimeMs, size }, passages, found));
    queue.add({ rows: passages.list.length + 1, run, done: () => document.settled?.() });
    scope.progress("write", this.#settled, this.#total);
  }

  #touch(document: IndexDocument, { mtimeMs, size }: Stamp): void {
    this.#settled++;
    this.#settle(document);
    const run = () => [this.#writer.touch({ path: document.path, mtimeMs, size })];
    this.#parts.queue.add({ rows: 1, run, done: () => document.settled?.() });
  }

  #remove(path: string, done?: () => void): void {
    this.#parts.queue.add({ rows: 1, run: () => this.#writer.remove(path), done });
  }

  /** Leaves out a document for good, as it is; nothing of it stays in the index. */
  #drop(document: IndexDocument, row: DocumentRow | undefined, code: string): void {
    this.#leaveOut({ path: document.path, code });
    const done = () => document.settled?.();
    if (row) this.#remove(document.path, done);
    else done();
  }

  #settle({ path }: Pick<IndexDocument, "path">): void {
    this.#parts.scope.guard.settle(this.#parts.source.source, path);
  }

  #leaveOut(out: LeftOut): void {
    this.#parts.scope.guard.leaveOut(this.#parts.source.source, out);
    this.#parts.outcome.skipped.push(out);
  }

  /** Some of its passages, not all of it. */
  #skip(document: IndexDocument, code: string): void {
    this.#parts.outcome.skipped.push({ path: document.path, code });
  }
}

type Stamp = { hash: string; mtimeMs: number; size: number };
