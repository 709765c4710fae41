import { createHash } from "node:crypto";
import type { EmbeddingFault } from "svc/sdk";
import type { IndexSettings, ProviderFacts } from "../../index-settings.ts";
import { packTexts } from "../../packed-texts.ts";
import type { HostMethod, HostMethods } from "../../worker-protocol.ts";
import { EmbedFault, type Host } from "../host.ts";
import type { Pacer } from "../pacer.ts";
import { createWriteQueue, type OpenIndex, type WriteQueue } from "../writing.ts";
import { type BatchItem, type BatchJobs, createBatchJobs, type StoredJob } from "./batch-jobs.ts";
import { createEmbeddingCache } from "./cache.ts";
import type { Embedder, EmbedRun } from "./embedder.ts";
import { hashOf, type PendingChunk, type PendingChunks, settling } from "./pending.ts";
import { checkVectors } from "./request.ts";
import { type Wait, waitMs } from "./retry.ts";
import { toPassageVector } from "./vectorizer.ts";

export type BatchSettings = IndexSettings["batch"];

/** Batch jobs of one provider over many syncs: two failures, and plain requests are made from then on. */
export class BatchRunner {
  readonly settings: BatchSettings;
  readonly host: Host;
  readonly wait: Wait;
  failures = 0;
  lastError: string | undefined;
  readonly #isOffered: boolean;

  constructor({
    settings,
    provider,
    host,
    wait = waitMs,
  }: { settings: BatchSettings; provider: ProviderFacts; host: Host; wait?: Wait | undefined }) {
    this.#isOffered = settings.enabled && provider.batch;
    this.settings = settings;
    this.host = host;
    this.wait = wait;
  }

  /** Wanted, offered, and not given up. */
  get isOn(): boolean {
    return this.#isOffered && this.failures < FAILURE_LIMIT;
  }

  get isOffered(): boolean {
    return this.#isOffered;
  }

  failed(message: string, weight: number): void {
    this.failures = Math.min(FAILURE_LIMIT, this.failures + weight);
    this.lastError = message;
  }

  succeeded(): void {
    this.failures = 0;
    this.lastError = undefined;
  }
}

export interface BatchScope {
  batches: BatchRunner;
  embedder: Embedder;
  run: EmbedRun;
  useCache: boolean;
  pending: PendingChunks;
  pacer: Pacer;
  now(): number;
  progress(done: number, total: number): void;
  /** Called between two looks at a job: notes that change meanwhile need not wait for it. */
  meanwhile(): Promise<void>;
}

export const FAILURE_LIMIT = 2;
const MAX_REQUESTS = 50_000;
/** Vectors of a job come in one message; so many bytes of them fit beside everything else. */
const MAX_RESULT_BYTES = 128 * 1024 * 1024;
const MAX_GROUP_CHARS = 32 * 1024 * 1024;
const ASSUMED_DIMS = 3_072;
const PAGE_CHUNKS = 256;
/** Maximum age of a job with `wait: false`; a vendor that never finishes one is forgotten. */
const UNWAITED_MS = 48 * 3_600_000;
/** The main thread ends its calls sooner. */
const CALL_MS = 605_000;
const lasting: ReadonlySet<EmbeddingFault> = new Set<EmbeddingFault>(["model", "bad-response", "invalid-request", "too-long"]);

/** Asks for the results of jobs that were left, then hands out what still waits, some jobs at a time. Failures leave their chunks waiting. */
export async function runBatches(index: OpenIndex, scope: BatchScope): Promise<void> {
  const jobs = createBatchJobs(index.db, scope.embedder.provider.providerKey);
  const total = scope.pending.count();
  const step = new BatchStep({ index, scope, jobs, progress: () => scope.progress(total - scope.pending.count(), total) });
  const left = jobs.list();
  await Promise.all(left.map((job) => (scope.batches.isOffered ? step.resume(job) : step.abandon(job))));
  await step.submitAll();
}

interface StepParts {
  index: OpenIndex;
  scope: BatchScope;
  jobs: BatchJobs;
  progress(): void;
}

class BatchStep {
  readonly #parts: StepParts;
  /** One for all jobs: two transactions on one connection would be one. */
  readonly #writes: WriteQueue;
  #after = Number.MIN_SAFE_INTEGER;

  constructor(parts: StepParts) {
    this.#parts = parts;
    this.#writes = createWriteQueue(parts.index, parts.scope.pacer);
  }

  /** A job of an earlier sync, maybe of an earlier process. */
  async resume(job: StoredJob): Promise<void> {
    await this.#guard(job.timeouts, () => this.#finish(job));
  }

  /** Jobs are not wanted any more. */
  async abandon(job: StoredJob): Promise<void> {
    await this.#end(job, true);
  }

  async submitAll(): Promise<void> {
    const { concurrency } = this.#parts.scope.batches.settings;
    const lanes = Array.from({ length: Math.max(1, concurrency) }, async () => {
      for (let group = this.#nextGroup(); group.length > 0; group = this.#nextGroup()) await this.#runGroup(group, 0);
    });
    await Promise.all(lanes);
  }

  #nextGroup(): PendingChunk[] {
    const { batches, pending, embedder, run } = this.#parts.scope;
    const maxRequests = Math.min(MAX_REQUESTS, Math.floor(MAX_RESULT_BYTES / (4 * (embedder.provider.dims ?? run.dims ?? ASSUMED_DIMS))));
    const group: PendingChunk[] = [];
    let chars = 0;
    while (batches.isOn && group.length < maxRequests && chars < MAX_GROUP_CHARS) {
      const limit = Math.min(PAGE_CHUNKS, maxRequests - group.length);
      const page = pending.page(this.#after, { limit, maxTextBytes: embedder.maxTextBytes });
      const last = page.at(-1);
      if (!last) break;
      this.#after = last.rowid;
      group.push(...page);
      for (const { text } of page) chars += text.length;
    }
    return group;
  }

  async #runGroup(group: readonly PendingChunk[], timeouts: number): Promise<void> {
    const { scope, jobs } = this.#parts;
    const items = group.map((chunk): BatchItem => ({ chunkId: chunk.id, hash: hashOf(chunk) }));
    await this.#guard(timeouts, async () => {
      const { job } = await this.#call("batchSubmit", { texts: packTexts(group.map(({ text }) => text)), tag: tagOf(items) });
      const stored = { job, createdAt: scope.now(), timeouts };
      jobs.remember(stored, items);
      if (scope.batches.settings.wait) await this.#finish(stored);
    });
  }

  /** Any failure of a job is counted and leaves its chunks to plain requests. */
  async #guard(timeouts: number, work: () => Promise<void>): Promise<void> {
    const { batches } = this.#parts.scope;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EmbedFault)) throw error;
      const isTwice = error instanceof JobTimeout && timeouts > 0;
      batches.failed(error.message, error.fault === "model" || isTwice ? FAILURE_LIMIT : 1);
    }
  }

  /** Polls until the job has an end, or the time is up; without waiting once. */
  async #finish(stored: StoredJob): Promise<void> {
    const { settings, wait } = this.#parts.scope.batches;
    const limitMs = settings.wait ? settings.timeoutMs : UNWAITED_MS;
    const until = performance.now() + limitMs - (this.#parts.scope.now() - stored.createdAt);
    for (;;) {
      const polled = await this.#poll(stored);
      if (polled.state === "done") return this.#collect(stored);
      if (polled.state === "failed") {
        await this.#end(stored, false);
        throw new EmbedFault("overloaded", `batch job failed: ${polled.message}`);
      }
      if (performance.now() >= until) return this.#timedOut(stored);
      if (!settings.wait) return;
      this.#parts.progress();
      await this.#parts.scope.meanwhile();
      await wait(settings.pollIntervalMs, this.#parts.scope.run.signal);
    }
  }

  /** A poll that does not get through says nothing about the job. */
  async #poll({ job }: StoredJob): Promise<HostMethods["batchPoll"]["reply"]> {
    try {
      return await this.#call("batchPoll", { job });
    } catch (error) {
      if (error instanceof EmbedFault && (error.fault === "model" || error.fault === "invalid-request")) {
        return { state: "failed", message: error.message };
      }
      if (error instanceof EmbedFault && error.fault !== "auth" && error.fault !== "no-credentials") return { state: "pending" };
      throw error;
    }
  }

  async #timedOut(stored: StoredJob): Promise<void> {
    const { scope, jobs } = this.#parts;
    const items = jobs.items(stored.job);
    await this.#end(stored, true);
    if (stored.timeouts > 0) throw new JobTimeout();
    const group = items.flatMap(({ chunkId }) => scope.pending.find(chunkId, scope.embedder.maxTextBytes) ?? []);
    if (group.length > 0) await this.#runGroup(group, 1);
  }

  async #collect(stored: StoredJob): Promise<void> {
    const { scope, jobs, index } = this.#parts;
    const items = jobs.items(stored.job);
    const results = await this.#results(stored, items.length);
    const cache = scope.useCache ? createEmbeddingCache(index.db, scope.embedder.provider, scope.now) : undefined;
    let refused = "";
    for (const [at, item] of items.entries()) {
      await scope.pacer.breathe();
      const result = results[at] ?? "the vendor's answer lacks it";
      const vector = typeof result === "string" ? result : this.#checked(result);
      const chunk = scope.pending.find(item.chunkId, scope.embedder.maxTextBytes);
      if (typeof vector === "string") refused = vector;
      else if (chunk && hashOf(chunk) === item.hash) {
        const passage = toPassageVector(vector);
        if (passage !== "pending")
          this.#writes.add(settling([{ chunk, hash: item.hash, vector: passage }], { pending: scope.pending, store: cache?.store }));
      }
      if (this.#writes.isFull) await this.#writes.flush();
    }
    await this.#writes.flush();
    await this.#end(stored, false);
    scope.batches.succeeded();
    if (refused !== "") scope.batches.lastError = refused;
    this.#parts.progress();
  }

  /** Results that are gone, or that nobody can read, will be no better next time: the job is over. */
  async #results(stored: StoredJob, count: number): Promise<HostMethods["batchResults"]["reply"]> {
    try {
      return await this.#call("batchResults", { job: stored.job, count });
    } catch (error) {
      if (!(error instanceof EmbedFault) || !lasting.has(error.fault)) throw error;
      await this.#end(stored, false);
      throw new EmbedFault("overloaded", `batch job failed: its results cannot be read: ${error.message}`);
    }
  }

  #checked(vector: Float32Array): Float32Array | string {
    const { embedder, run } = this.#parts.scope;
    try {
      run.dims ??= checkVectors([vector], { count: 1, dims: embedder.provider.dims ?? run.dims });
      checkVectors([vector], { count: 1, dims: run.dims });
      return vector;
    } catch (error) {
      if (error instanceof EmbedFault) return error.message;
      throw error;
    }
  }

  /** Forgets a job here and at the vendor's. */
  async #end({ job }: StoredJob, cancel: boolean): Promise<void> {
    this.#parts.jobs.forget(job);
    await this.#call("batchEnd", { job, cancel }).catch((error) => {
      if (!(error instanceof EmbedFault)) throw error; // the vendor deletes it some day
    });
  }

  #call<M extends HostMethod>(method: M, params: HostMethods[M]["params"]): Promise<HostMethods[M]["reply"]> {
    const { batches, run } = this.#parts.scope;
    return batches.host.call(method, params, { timeoutMs: CALL_MS, signal: run.signal });
  }
}

class JobTimeout extends EmbedFault {
  constructor() {
    super("timeout", "batch job: not finished in time, twice");
  }
}

/** Recognises a creation that was repeated. */
function tagOf(items: readonly BatchItem[]): string {
  const hash = createHash("sha256");
  for (const { hash: of } of items) hash.update(of);
  return `svc-memory-${hash.digest("hex").slice(0, 32)}`;
}
