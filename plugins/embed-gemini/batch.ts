import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  type BatchFile,
  type EmbeddingBatch,
  type EmbeddingBatchState,
  EmbeddingError,
  isRecord,
  remoteLimits,
  type VendorHttp,
} from "svc/sdk";
import type { Tree } from "svc/sdk/internal";
import type { GeminiAddresses } from "./addresses.ts";
import { batchFile, uploadOf } from "./batch-file.ts";
import { readResults, reasonIn } from "./batch-results.ts";
import type { ModelChoice } from "./model-choice.ts";
import { ADAPTER } from "./provider.ts";

/** Maximum number of texts in one batch job. */
const MAX_REQUESTS = 50_000;
const UPLOAD_LIMIT_MS = 600_000;
const CREATION_ATTEMPTS = 3;
const CREATION_PAUSE = { firstMs: 300, mostMs: 2_000, jitter: 0.2 };
/** An older job is not taken again: the vendor keeps files for two days. */
const MAX_JOB_AGE_MS = 24 * 3_600_000;

export interface BatchConnection {
  http: VendorHttp;
  addresses: GeminiAddresses;
  headers: Readonly<Record<string, string>>;
  secrets: readonly string[];
}

/** Stored facts about a job. */
interface Job {
  /** `batches/…` */
  name: string;
  /** `files/…`, what was uploaded; unknown for a job that was found again and does not tell. */
  file?: string | undefined;
  /** Texts in it. */
  count: number;
}

type Call = (
  method: "GET" | "POST" | "DELETE",
  path: string,
  request?: { json?: object; signal?: AbortSignal | undefined; isOnce?: boolean },
) => Promise<Tree>;

/** Many texts at once through `asyncBatchEmbedContent`. A job that was created lately with the same tag, texts and model is found again instead of being created twice. */
export function createGeminiBatch(choice: ModelChoice, connection: BatchConnection): EmbeddingBatch {
  const { addresses, secrets } = connection;
  const call = createCall(connection);
  const deleteFile = async (file: string | undefined) => {
    if (file !== undefined) await bestEffort(call("DELETE", file));
  };
  return {
    maxRequests: MAX_REQUESTS,
    async submit(texts, { tag, signal }) {
      const content = await batchFile(texts, { adapter: ADAPTER, choice, signal });
      const label = `${tag}-${createHash("sha256").update(choice.model).update(content.digest).digest("hex").slice(0, 16)}`;
      const made = await findByLabel(call, label, signal);
      if (made) return JSON.stringify({ ...made, count: texts.length } satisfies Job);
      let file: string | undefined;
      try {
        file = await upload(content, { connection, label, signal });
        const path = `models/${encodeURIComponent(choice.model)}:asyncBatchEmbedContent`;
        const name = await create(call, { path, file, label, signal });
        return JSON.stringify({ name, file, count: texts.length } satisfies Job);
      } catch (error) {
        await deleteFile(file);
        throw isMissing(error) ? notAvailable(choice.model) : error;
      }
    },
    async poll(job, { signal } = {}) {
      try {
        return stateOf(await call("GET", parseJob(job).name, { signal }), secrets);
      } catch (error) {
        if (isMissing(error)) return { state: "failed", message: "the vendor does not know the job any more" };
        throw error;
      }
    },
    async *results(job, { signal } = {}) {
      const { name, count } = parseJob(job);
      const file = resultFileOf(await call("GET", name, { signal }));
      const url = `${addresses.download}/${file}:download?alt=media`;
      const chunks = connection.http.download({ url, headers: connection.headers, timeoutMs: remoteLimits.batchMs, signal });
      const missing = new Set(Array.from({ length: count }, (_, i) => i));
      for await (const result of readResults(chunks, { adapter: ADAPTER, dims: choice.dims, secrets })) {
        if (missing.delete(result.index)) yield result;
      }
      for (const index of missing) yield { index, error: "the result has no line for it" };
    },
    cancel: (job) => bestEffort(call("POST", `${parseJob(job).name}:cancel`, { json: {} })),
    cleanup: (job) => deleteFile(parseJob(job).file),
  };
}

function createCall({ http, addresses, headers }: BatchConnection): Call {
  return async (method, path, { json, signal, isOnce } = {}) => {
    const request = {
      method,
      url: `${addresses.base}/${path}`,
      headers,
      timeoutMs: remoteLimits.batchMs,
      signal,
      ...(json ? { json } : {}),
      ...(isOnce ? { isOnce } : {}),
    };
    const answer = await http.json(request);
    return isRecord(answer) ? answer : {};
  };
}

async function upload(
  content: BatchFile,
  { connection, label, signal }: { connection: BatchConnection; label: string; signal: AbortSignal | undefined },
): Promise<string> {
  const { body, headers } = uploadOf(content, label);
  const answer = await connection.http.json({
    method: "POST",
    url: `${connection.addresses.upload}/files?uploadType=multipart`,
    headers: { ...connection.headers, ...headers },
    body,
    timeoutMs: UPLOAD_LIMIT_MS,
    signal,
  });
  const file = isRecord(answer) ? answer.file : undefined;
  return named(isRecord(file) ? file.name : undefined, "files");
}

/** Creates the job; after 429 or 5xx it is tried again, unless it turns out to have been created nevertheless. */
async function create(
  call: Call,
  { path, file, label, signal }: { path: string; file: string; label: string; signal: AbortSignal | undefined },
): Promise<string> {
  const json = { batch: { displayName: label, inputConfig: { fileName: file } } };
  for (let attempt = 1; ; attempt++) {
    try {
      return named((await call("POST", path, { json, signal, isOnce: true })).name, "batches");
    } catch (error) {
      if (attempt === CREATION_ATTEMPTS || !isPassing(error)) throw error;
      await pause(pauseBefore(attempt, error), undefined, signal ? { signal } : {});
      const made = await findByLabel(call, label, signal);
      if (made) return made.name;
    }
  }
}

/** A job of this label that is still worth something: of a creation whose answer was lost, or of an earlier process. Best effort. */
async function findByLabel(call: Call, label: string, signal: AbortSignal | undefined): Promise<Pick<Job, "name" | "file"> | undefined> {
  const { operations } = await call("GET", "batches?pageSize=100", { signal }).catch((error: unknown): Tree => {
    if (signal?.aborted) throw error;
    return {};
  });
  const all: unknown[] = Array.isArray(operations) ? operations : [];
  const wanted = { label, now: Date.now() };
  const found = all.filter(isRecord).find((operation) => isRecord(operation.metadata) && isLive(operation, operation.metadata, wanted));
  if (!found) return undefined;
  const { inputConfig } = found.metadata as Tree;
  const input = isRecord(inputConfig) ? inputConfig.fileName : undefined;
  return { name: named(found.name, "batches"), file: isName(input, "files") ? input : undefined };
}

/** @param wanted `now`: wall clock in epoch ms, as the vendor's times are */
function isLive(operation: Tree, metadata: Tree, { label, now }: { label: string; now: number }): boolean {
  if (metadata.displayName !== label || stateOf(operation, []).state === "failed") return false;
  return !(Date.parse(String(metadata.createTime)) + MAX_JOB_AGE_MS < now);
}

/** Pure. */
function stateOf({ done, error, metadata }: Tree, secrets: readonly string[]): EmbeddingBatchState {
  const state = String((isRecord(metadata) && metadata.state) || "").replace(/^(BATCH_STATE_|JOB_STATE_)/, "");
  const hasFailed = ["FAILED", "CANCELLED", "EXPIRED"].includes(state);
  if (hasFailed) return { state: "failed", message: `${state.toLowerCase()}: ${reasonIn(error, secrets)}` };
  if (error) return { state: "failed", message: reasonIn(error, secrets) };
  return state === "SUCCEEDED" || done === true ? { state: "done" } : { state: "pending" };
}

function resultFileOf({ metadata, response }: Tree): string {
  const output = isRecord(metadata) ? metadata.output : undefined;
  const places = [output, response].map((place) => (isRecord(place) ? place.responsesFile : undefined));
  return named(
    places.find((place) => place !== undefined),
    "files",
  );
}

/** @throws {EmbeddingError} `invalid-request` */
function parseJob(job: string): Job {
  try {
    const { name, file, count } = JSON.parse(job) as Partial<Job>;
    if (Number.isSafeInteger(count))
      return { name: named(name, "batches"), file: file === undefined ? undefined : named(file, "files"), count: count as number };
  } catch {
    // Not ours; said below.
  }
  throw new EmbeddingError("invalid-request", `embedding adapter "${ADAPTER}": expected a batch job of this adapter`);
}

/** A name the vendor gave to something; it becomes part of an address. */
function isName(name: unknown, kind: "files" | "batches"): name is string {
  return typeof name === "string" && new RegExp(`^${kind}/[\\w.-]+$`).test(name);
}

function named(name: unknown, kind: "files" | "batches"): string {
  if (isName(name, kind)) return name;
  throw new EmbeddingError("bad-response", `embedding adapter "${ADAPTER}": expected the name of one of its ${kind}`);
}

function isMissing(error: unknown): boolean {
  return error instanceof EmbeddingError && error.status === 404;
}

function isPassing(error: unknown): boolean {
  const status = error instanceof EmbeddingError ? error.status : undefined;
  return status !== undefined && (status === 429 || status >= 500) && (error as EmbeddingError).fault !== "quota";
}

function pauseBefore(attempt: number, error: unknown): number {
  const { firstMs, mostMs, jitter } = CREATION_PAUSE;
  const asked = error instanceof EmbeddingError ? error.retryAfterMs : undefined;
  return Math.min(mostMs, asked ?? firstMs * 2 ** (attempt - 1)) * (1 + jitter * Math.random());
}

function notAvailable(model: string): EmbeddingError {
  return new EmbeddingError("model", `embedding adapter "${ADAPTER}": batches are not available for ${model} or at this address`, {
    status: 404,
  });
}

/** Runs clean-up work and ignores its failure: the vendor forgets its files by itself. */
async function bestEffort(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
