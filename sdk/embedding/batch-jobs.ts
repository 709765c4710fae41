import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Tree } from "../config/tree.ts";
import { EmbeddingError } from "../define.ts";
import { messageOf } from "../errors.ts";
import { isRecord } from "../is-record.ts";
import { backoffDelayMs } from "../time.ts";
import type { EmbeddingBatch, EmbeddingBatchResult } from "../types/embedding.ts";
import { scrubVendorText } from "../vendor-text.ts";
import { createBatchFile, formWithFile } from "./batch-file.ts";
import type { VendorHttp } from "./http.ts";
import { jsonLines } from "./json-lines.ts";
import type { RemoteEndpoint } from "./remote.ts";
import { checkedVectors, readVector } from "./vectors.ts";

/** Longest wait for one answer that is no file; a file may be silent for as long. */
const CALL_MS = 60_000;
/** Longest upload. */
const UPLOAD_MS = 600_000;
const CREATE_ATTEMPTS = 3;
const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 2_000;
const JITTER = 0.2;
/** Jobs looked through for one that was created already. */
const RECENT_JOBS = 100;
/** An older job is not taken again: the vendor may have deleted its results. */
const MAX_JOB_AGE_MS = 24 * 3_600_000;

const failedStates = new Set(["failed", "expired", "cancelled"]);
const endedStates = new Set([...failedStates, "cancelling"]);

/** The batch API in the shape that OpenAI brought: files, batches, JSON lines. */
export interface BatchJobsOptions {
  /** Adapter id, for messages. */
  adapter: string;
  http: VendorHttp;
  endpoint: RemoteEndpoint;
  /** Length of every vector, when it is known. */
  dims?: number | undefined;
  maxRequests: number;
  maxFileBytes: number;
  /** One line of the file; `id` is the index of the text. */
  line: (text: string, id: string) => unknown;
  /** Fields of the creation request besides the file and the metadata. */
  creation: Readonly<Record<string, unknown>>;
}

/** Facts that identify a job. */
interface Job {
  batch: string;
  file: string;
  count: number;
}

/** Batches of such an API. A job that was created lately with the same tag, the same texts and the same model is found again instead of being created twice. */
export function createBatchJobs(options: BatchJobsOptions): EmbeddingBatch {
  const api = createBatchCalls(options);
  const read = async (job: string, signal?: AbortSignal) =>
    api.json("GET", `/batches/${encodeURIComponent(parseJob(job, options).batch)}`, { signal });
  return {
    maxRequests: options.maxRequests,
    async submit(texts, { tag, signal }) {
      const { adapter, line, maxFileBytes: maxBytes } = options;
      const file = await createBatchFile({ adapter, texts, line, maxBytes, signal });
      // With what the creation says: the model may stand there and not in the lines.
      const digest = createHash("sha256").update(file.digest).update(JSON.stringify(options.creation)).digest("hex");
      const metadata = { svc_tag: tag, svc_digest: digest };
      const existing = await findJob(api, metadata, signal);
      const created = existing ?? (await createJob(options, api, { metadata, signal, file: await upload(api, file, signal) }));
      return JSON.stringify({
        batch: textAt(created, "id", options),
        file: textAt(created, "input_file_id", options),
        count: texts.length,
      });
    },
    async poll(job, { signal } = {}) {
      const batch = await read(job, signal);
      if (failedStates.has(String(batch.status))) return { state: "failed", message: await failureText(batch, options, signal) };
      return { state: batch.status === "completed" ? "done" : "pending" };
    },
    async *results(job, { signal } = {}) {
      const batch = await read(job, signal);
      const missing = new Set(Array.from({ length: parseJob(job, options).count }, (_, i) => i));
      for (const file of [batch.output_file_id, batch.error_file_id]) {
        if (typeof file !== "string" || file === "") continue;
        for await (const line of jsonLines(content(options, file, signal), options.adapter)) {
          const result = readLine(line, options);
          if (result && missing.delete(result.index)) yield result;
        }
      }
      for (const index of missing) yield { index, error: "the result has no line for it" };
    },
    cancel: (job) => bestEffort(async () => api.json("POST", `/batches/${encodeURIComponent(parseJob(job, options).batch)}/cancel`, {})),
    cleanup: (job) => bestEffort(async () => api.json("DELETE", `/files/${encodeURIComponent(parseJob(job, options).file)}`, {})),
  };
}

interface BatchCalls {
  json(method: "GET" | "POST" | "DELETE", path: string, request: Partial<Parameters<VendorHttp["json"]>[0]>): Promise<Tree>;
}

function createBatchCalls({ adapter, http, endpoint }: BatchJobsOptions): BatchCalls {
  return {
    async json(method, path, request) {
      const headers = { ...endpoint.headers, ...request.headers };
      const answer = await http.json({ timeoutMs: CALL_MS, ...request, method, url: `${endpoint.baseUrl}${path}`, headers });
      if (!isRecord(answer)) throw new EmbeddingError("bad-response", `embedding adapter "${adapter}": expected an object from ${path}`);
      return answer;
    },
  };
}

async function upload(
  api: BatchCalls,
  file: { bytes: number; chunks(): AsyncIterable<Uint8Array> },
  signal: AbortSignal | undefined,
): Promise<Tree> {
  const form = formWithFile({ purpose: "batch" }, { field: "file", name: "svc-memory.jsonl", type: "application/jsonl", ...file });
  return api.json("POST", "/files", { ...form, signal, timeoutMs: UPLOAD_MS });
}

/** A job of the same tag, texts and model that is still worth something. Best effort: a server that lists no jobs just gets a new one. */
async function findJob(
  api: BatchCalls,
  metadata: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Tree | undefined> {
  const list = await api.json("GET", `/batches?limit=${RECENT_JOBS}`, { signal }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    return {} as Tree;
  });
  const jobs = Array.isArray(list.data) ? list.data.filter(isRecord) : [];
  const now = Date.now();
  return jobs.find((job) => {
    const told = isRecord(job.metadata) ? job.metadata : {};
    return (
      Object.entries(metadata).every(([key, value]) => told[key] === value) && !endedStates.has(String(job.status)) && !isOld(job, now)
    );
  });
}

/** True for an old job, by the vendor's time in seconds or as a date; a job without any is not old. @param now wall clock in epoch ms */
function isOld({ created_at: at }: Tree, now: number): boolean {
  const ms = typeof at === "number" ? at * 1_000 : Date.parse(String(at));
  return ms + MAX_JOB_AGE_MS < now;
}

/** Creates the job; one that failed with 429 or 5xx is tried again, unless it turns out to have been created nevertheless. */
async function createJob(
  options: BatchJobsOptions,
  api: BatchCalls,
  { metadata, file, signal }: { metadata: Readonly<Record<string, string>>; file: Tree; signal: AbortSignal | undefined },
): Promise<Tree> {
  const input_file_id = textAt(file, "id", options);
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return {
          input_file_id,
          ...(await api.json("POST", "/batches", { json: { input_file_id, ...options.creation, metadata }, signal, isOnce: true })),
        };
      } catch (error) {
        if (attempt === CREATE_ATTEMPTS || !isPassing(error)) throw error;
        const delayMs = backoffDelayMs(attempt, { firstMs: FIRST_DELAY_MS, maxMs: MAX_DELAY_MS }) * (1 + JITTER * Math.random());
        await wait(delayMs, undefined, signal ? { signal } : {});
        const existing = await findJob(api, metadata, signal);
        if (existing) return existing;
      }
    }
  } catch (error) {
    await bestEffort(() => api.json("DELETE", `/files/${encodeURIComponent(input_file_id)}`, {}));
    throw error;
  }
}

function isPassing(error: unknown): boolean {
  const status = error instanceof EmbeddingError ? error.status : undefined;
  return status !== undefined && (status === 429 || status >= 500) && (error as EmbeddingError).fault !== "quota";
}

function content({ http, endpoint }: BatchJobsOptions, file: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const url = `${endpoint.baseUrl}/files/${encodeURIComponent(file)}/content`;
  return http.download({ url, headers: endpoint.headers, timeoutMs: CALL_MS, signal });
}

/** Describes why a job failed: its status with the first message of its error file, or of itself. */
async function failureText(batch: Tree, options: BatchJobsOptions, signal: AbortSignal | undefined): Promise<string> {
  const { adapter, endpoint } = options;
  const say = (reason: string) =>
    `embedding adapter "${adapter}": the batch ended as ${String(batch.status)}${reason === "" ? "" : `: ${scrubVendorText(reason, endpoint.secrets)}`}`;
  const own = isRecord(batch.errors) && Array.isArray(batch.errors.data) ? batch.errors.data.find(isRecord)?.message : undefined;
  if (typeof batch.error_file_id !== "string" || batch.error_file_id === "") return say(typeof own === "string" ? own : "");
  try {
    for await (const line of jsonLines(content(options, batch.error_file_id, signal), adapter)) {
      const message = lineError(line);
      if (message !== undefined) return say(message);
    }
    return say(typeof own === "string" ? own : "");
  } catch (error) {
    if (signal?.aborted) throw error;
    return say(`its error file could not be read: ${messageOf(error)}`);
  }
}

function readLine(line: unknown, { adapter, dims, endpoint }: BatchJobsOptions): EmbeddingBatchResult | undefined {
  const id = isRecord(line) && typeof line.custom_id === "string" && /^\d+$/.test(line.custom_id) ? Number(line.custom_id) : undefined;
  if (id === undefined) return undefined;
  const error = lineError(line);
  if (error !== undefined) return { index: id, error: scrubVendorText(error, endpoint.secrets) };
  const body = (line as { response?: { body?: unknown } }).response?.body;
  const [item] = isRecord(body) && Array.isArray(body.data) ? body.data : [];
  try {
    const [vector] = checkedVectors([isRecord(item) ? readVector(item.embedding) : undefined], { adapter, count: 1, dims });
    return { index: id, vector: vector as Float32Array };
  } catch (wrong) {
    return { index: id, error: messageOf(wrong) };
  }
}

/** Error stated by a line; undefined for one that succeeded. */
function lineError(line: unknown): string | undefined {
  if (!isRecord(line)) return "the line is no object";
  const response = isRecord(line.response) ? line.response : undefined;
  const said = [line.error, isRecord(response?.body) ? response.body.error : undefined]
    .map((error) => (isRecord(error) ? error.message : error))
    .find((text) => typeof text === "string");
  const status = response?.status_code;
  const isRefused = typeof status === "number" && status >= 400;
  if (line.error == null && !isRefused) return undefined;
  return typeof said === "string" ? said : isRefused ? `status ${status}` : "it failed without a message";
}

function parseJob(job: string, { adapter }: BatchJobsOptions): Job {
  const wrong = new EmbeddingError("invalid-request", `embedding adapter "${adapter}": expected a batch job of this adapter`);
  let value: unknown;
  try {
    value = JSON.parse(job);
  } catch {
    throw wrong;
  }
  if (!isRecord(value) || typeof value.batch !== "string" || typeof value.file !== "string" || typeof value.count !== "number") throw wrong;
  return { batch: value.batch, file: value.file, count: value.count };
}

function textAt(answer: Tree, key: string, { adapter }: BatchJobsOptions): string {
  const value = answer[key];
  if (typeof value === "string" && value !== "") return value;
  throw new EmbeddingError("bad-response", `embedding adapter "${adapter}": the answer about the batch has no ${key}`);
}

/** Runs clean-up work and ignores its failure: the job is over either way, and the vendor forgets its files by itself. */
async function bestEffort(work: () => Promise<unknown>): Promise<void> {
  await work().catch(() => undefined);
}
