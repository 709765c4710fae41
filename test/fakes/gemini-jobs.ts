import type { ServerResponse } from "node:http";
import type { RecordedEmbedding } from "./embedding-server.ts";
import { type GeminiContent, geminiVector } from "./gemini-models.ts";

/** Batch jobs of the fake, open to the test. */
export interface GeminiJobs {
  /** Content by name, uploaded ones and results. */
  files: Map<string, string>;
  batches: Map<string, { displayName: string; model: string; input: string; output?: string }>;
  /** States that the next reads of a job show; the last one stays. Empty: it has succeeded. */
  states: string[];
  /** How long ago jobs were created, as the list tells. */
  ageMs: number;
  /** Keys that fail, by what is said of them. */
  refused: Array<{ key: string; message: string }>;
  /** Keys that the results leave out. */
  missing: string[];
  /** False: the model has no such method. */
  hasMethod: boolean;
  /** Status that every creation is refused with. */
  refusedCreations?: number;
  /** Creations that succeed without an answer, as when a proxy gives up. */
  lostCreations?: number;
  /** Answers to the next requests about jobs, one each. */
  faults: Array<number | "hang">;
  /** Status of the answer to every request about jobs while it is set. */
  outage?: number | undefined;
  deleted: string[];
  cancelled: string[];
  /** Answers a request about jobs; false for any other. */
  answer(request: RecordedEmbedding, res: ServerResponse): boolean;
}

const paths = {
  upload: /^\/upload\/v1beta\/files\?uploadType=multipart$/,
  create: /^\/v1beta\/models\/([^/:]+):asyncBatchEmbedContent$/,
  list: /^\/v1beta\/batches\?pageSize=\d+$/,
  look: /^\/v1beta\/(batches\/[\w-]+)$/,
  cancel: /^\/v1beta\/(batches\/[\w-]+):cancel$/,
  file: /^\/v1beta\/(files\/[\w-]+)$/,
  download: /^\/download\/v1beta\/(files\/[\w-]+):download\?alt=media$/,
};

export function createGeminiJobs(): GeminiJobs {
  const jobs: GeminiJobs = {
    files: new Map(),
    batches: new Map(),
    states: [],
    ageMs: 0,
    refused: [],
    missing: [],
    hasMethod: true,
    faults: [],
    deleted: [],
    cancelled: [],
    answer(request, res) {
      if (!Object.values(paths).some((pattern) => pattern.test(request.path))) return false;
      const fault = jobs.outage ?? jobs.faults.shift();
      if (typeof fault === "number") answer(res, fault, { error: { code: fault, message: "as the script says" } });
      else if (fault === undefined) handle(jobs, request, res);
      return true;
    },
  };
  return jobs;
}

function handle(jobs: GeminiJobs, { method, path, headers, body }: RecordedEmbedding, res: ServerResponse): void {
  const nameIn = (pattern: RegExp) => pattern.exec(path)?.[1] ?? "";
  if (method === "POST" && paths.upload.test(path)) return upload(jobs, { type: headers["content-type"] ?? "", text: String(body) }, res);
  if (method === "POST" && paths.create.test(path)) return create(jobs, { model: nameIn(paths.create), body }, res);
  if (method === "GET" && paths.list.test(path)) {
    const createTime = new Date(Date.now() - jobs.ageMs).toISOString();
    const state = jobs.states[0] ?? "BATCH_STATE_SUCCEEDED";
    const operations = [...jobs.batches].map(([name, { displayName, input }]) => ({
      name,
      metadata: { displayName, state, createTime, inputConfig: { fileName: input } },
    }));
    return answer(res, 200, { operations });
  }
  if (method === "GET" && paths.look.test(path)) return look(jobs, nameIn(paths.look), res);
  if (method === "POST" && paths.cancel.test(path)) {
    jobs.cancelled.push(nameIn(paths.cancel));
    return answer(res, 200, {});
  }
  if (method === "DELETE" && paths.file.test(path)) {
    jobs.deleted.push(nameIn(paths.file));
    return answer(res, jobs.files.delete(nameIn(paths.file)) ? 200 : 404, {});
  }
  const content = method === "GET" ? jobs.files.get(nameIn(paths.download)) : undefined;
  if (content === undefined) return answer(res, 404, { error: { code: 404, message: "not found", status: "NOT_FOUND" } });
  res.writeHead(200, { "content-type": "application/octet-stream" }).end(content);
}

function upload(jobs: GeminiJobs, { type, text }: { type: string; text: string }, res: ServerResponse): void {
  const boundary = /^multipart\/related; boundary=(\S+)$/.exec(type)?.[1];
  const [, description = "", file = "", end] = boundary ? text.split(`--${boundary}`) : [];
  const parts = [description, file].map((part) => /^\r\nContent-Type: ([^\r]+)\r\n\r\n(.*)\r\n$/s.exec(part));
  const told = JSON.parse(parts[0]?.[2] ?? "{}") as { file?: { mimeType?: string; displayName?: string } };
  if (end !== "--\r\n" || told.file?.mimeType !== "application/jsonl" || !told.file.displayName || parts[1]?.[1] !== "application/jsonl") {
    return answer(res, 400, { error: { code: 400, message: "Metadata part is malformed", status: "INVALID_ARGUMENT" } });
  }
  const name = `files/in-${jobs.files.size + 1}`;
  jobs.files.set(name, parts[1]?.[2] ?? "");
  answer(res, 200, { file: { name, displayName: told.file.displayName } });
}

function create(jobs: GeminiJobs, { model, body }: { model: string; body: unknown }, res: ServerResponse): void {
  const { batch } = (body ?? {}) as { batch?: { displayName?: string; inputConfig?: { fileName?: string } } };
  const input = batch?.inputConfig?.fileName ?? "";
  if (!jobs.hasMethod)
    return answer(res, 404, { error: { code: 404, message: `models/${model} is not supported for asyncBatchEmbedContent` } });
  if (!batch?.displayName || !jobs.files.has(input)) return answer(res, 400, { error: { code: 400, message: "no such input file" } });
  if (jobs.refusedCreations) return answer(res, jobs.refusedCreations, { error: { code: jobs.refusedCreations, message: "not now" } });
  const name = `batches/job-${jobs.batches.size + 1}`;
  jobs.batches.set(name, { displayName: batch.displayName, model, input });
  if (jobs.lostCreations) {
    jobs.lostCreations -= 1;
    return answer(res, 503, { error: { code: 503, message: "The service is currently unavailable." } });
  }
  answer(res, 200, { name, metadata: { state: "BATCH_STATE_PENDING", displayName: batch.displayName } });
}

function look(jobs: GeminiJobs, name: string, res: ServerResponse): void {
  const batch = jobs.batches.get(name);
  if (!batch) return answer(res, 404, { error: { code: 404, message: `${name} is not found` } });
  const state = (jobs.states.length > 1 ? jobs.states.shift() : jobs.states[0]) ?? "BATCH_STATE_SUCCEEDED";
  if (!state.endsWith("SUCCEEDED")) {
    const isOver = !/PENDING|RUNNING/.test(state);
    return answer(res, 200, {
      name,
      metadata: { state },
      ...(isOver ? { done: true, error: { code: 3, message: "the file is\n broken" } } : {}),
    });
  }
  batch.output ??= work(jobs, batch);
  answer(res, 200, { name, done: true, metadata: { state, output: { responsesFile: batch.output } } });
}

/** Writes the results, last one first. */
function work(jobs: GeminiJobs, { model, input }: { model: string; input: string }): string {
  const lines = (jobs.files.get(input) ?? "").split("\n").filter((line) => line !== "");
  const asked = lines
    .map((line) => JSON.parse(line) as { key: string; request: GeminiContent })
    .filter(({ key }) => !jobs.missing.includes(key));
  const results = asked.reverse().map(({ key, request }) => {
    const refused = jobs.refused.find((one) => one.key === key);
    return JSON.stringify(
      refused
        ? { key, error: { code: 3, message: refused.message } }
        : { key, response: { embedding: { values: geminiVector(model, request) } } },
    );
  });
  const name = `files/out-${jobs.files.size + 1}`;
  jobs.files.set(name, results.join("\n"));
  return name;
}

function answer(res: ServerResponse, status: number, value: object): void {
  res.writeHead(status, { "content-type": "application/json; charset=UTF-8" }).end(JSON.stringify(value));
}
