import type { ServerResponse } from "node:http";
import { type RecordedEmbedding, sendJson } from "./embedding-server.ts";
import { wordVector } from "./embedding-vectors.ts";

/** How the next jobs go. */
export interface BatchPlan {
  /** Statuses that polls see, in order; the last one stays. Default: completed at once. */
  statuses?: string[];
  /** Lines that fail, by index. */
  failing?: number[];
  /** Lines the result leaves out, by index. */
  missing?: number[];
  /** Statuses of the answers to creations before one goes well; negative: the job is created nevertheless. */
  creations?: number[];
  /** The error file cannot be read. */
  hidesErrors?: boolean;
  /** Files are never answered. */
  stalls?: boolean;
  /** Only errors, and no output file. */
  allFail?: boolean;
  /** How long ago jobs were created, as the list tells. */
  ageMs?: number;
  /** Result files are answered with a redirect to this address. */
  redirectTo?: string;
}

interface Batch {
  id: string;
  input_file_id: string;
  metadata: Record<string, string>;
  body: Record<string, unknown>;
  polls: number;
  cancelled: boolean;
}

export interface FakeBatches {
  plan: BatchPlan;
  /** Uploaded files by id: the lines. */
  files: Map<string, Array<Record<string, unknown>>>;
  batches: Batch[];
  deleted: string[];
  route(request: RecordedEmbedding, res: ServerResponse): boolean;
}

/** Files and batches as two vendors have them; results come in reverse order. */
export function createFakeBatches(line: "openai" | "voyage", dims: number): FakeBatches {
  const fake: FakeBatches = { plan: {}, files: new Map(), batches: [], deleted: [], route };

  function route(request: RecordedEmbedding, res: ServerResponse): boolean {
    const { method, path } = request;
    const [, kind, id, action] = /^\/v1\/(files|batches)(?:\/([^/?]+))?(?:\/(\w+))?(?:\?.*)?$/.exec(path) ?? [];
    if (kind === undefined) return false;
    if (kind === "files" && method === "POST") return upload(request, res);
    if (kind === "files" && method === "DELETE") return removed(res, id as string);
    if (kind === "files" && action === "content") return content(res, id as string);
    if (kind === "batches" && method === "GET" && id === undefined)
      return send(res, { object: "list", data: fake.batches.map((b) => shown(b)) });
    if (kind === "batches" && method === "POST" && id === undefined) return create(request, res);
    const batch = fake.batches.find((b) => b.id === id);
    if (!batch) return false;
    if (action === "cancel") batch.cancelled = true;
    if (method === "GET") batch.polls++;
    return send(res, shown(batch));
  }

  function upload(request: RecordedEmbedding, res: ServerResponse): boolean {
    const [, boundary] = /^multipart\/form-data; boundary=(.+)$/.exec(request.headers["content-type"] ?? "") ?? [];
    const parts = (request.body as Buffer).toString("utf8").split(`--${boundary}`);
    const texts = parts.map((part) => part.split("\r\n\r\n").slice(1).join("\r\n\r\n").replace(/\r\n$/, ""));
    const at = (name: string) => texts[parts.findIndex((part) => part.includes(`name="${name}"`))];
    const lines = (at("file") ?? "")
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as Record<string, unknown>);
    if (at("purpose") !== "batch" || !lines.every(isLine)) return send(res, { error: { message: "invalid file" } }, 400);
    const id = `file-in-${fake.files.size}`;
    fake.files.set(id, lines);
    return send(res, { id, object: "file", purpose: "batch", bytes: (at("file") ?? "").length });
  }

  function isLine(one: Record<string, unknown>): boolean {
    const body = one.body as Record<string, unknown> | undefined;
    if (typeof one.custom_id !== "string") return false;
    return line === "voyage"
      ? Array.isArray(body?.input) && !("url" in one)
      : one.url === "/v1/embeddings" && one.method === "POST" && typeof body?.model === "string";
  }

  function create(request: RecordedEmbedding, res: ServerResponse): boolean {
    const status = fake.plan.creations?.shift();
    const body = request.body as Record<string, unknown>;
    const isKnown = fake.files.has(String(body.input_file_id)) && body.endpoint === "/v1/embeddings";
    if (!isKnown || body.completion_window !== (line === "voyage" ? "12h" : "24h"))
      return send(res, { error: { message: "invalid batch" } }, 400);
    const batch: Batch = {
      id: `batch_${fake.batches.length}`,
      input_file_id: String(body.input_file_id),
      metadata: body.metadata as Record<string, string>,
      body,
      polls: 0,
      cancelled: false,
    };
    if (status === undefined || status < 0) fake.batches.push(batch);
    return status === undefined ? send(res, shown(batch)) : send(res, { error: { message: "try again" } }, Math.abs(status));
  }

  function shown(batch: Batch): Record<string, unknown> {
    const { statuses = ["completed"], allFail, failing = [], ageMs = 0 } = fake.plan;
    const createdAt = Date.now() - ageMs;
    const status = batch.cancelled ? "cancelled" : statuses[Math.min(Math.max(batch.polls - 1, 0), statuses.length - 1)];
    const hasErrors = allFail || failing.length > 0;
    return {
      id: batch.id,
      object: "batch",
      input_file_id: batch.input_file_id,
      metadata: batch.metadata,
      status,
      created_at: line === "voyage" ? new Date(createdAt).toISOString() : Math.floor(createdAt / 1_000),
      ...(status === "completed" && !allFail ? { output_file_id: `out-${batch.id}` } : {}),
      ...(hasErrors ? { error_file_id: `err-${batch.id}` } : {}),
    };
  }

  function content(res: ServerResponse, id: string): boolean {
    const { failing = [], missing = [], allFail, hidesErrors, redirectTo, stalls } = fake.plan;
    if (stalls) return true;
    if (redirectTo) {
      res.writeHead(302, { location: redirectTo }).end();
      return true;
    }
    const batch = fake.batches.find((b) => id.endsWith(b.id));
    const lines = fake.files.get(batch?.input_file_id ?? "") ?? [];
    const isFailing = (i: number) => allFail || failing.includes(i);
    if (id.startsWith("err-") && hidesErrors) return send(res, { error: { message: "gone" } }, 404);
    const wanted = lines.map((one, i) => ({ one, i })).filter(({ i }) => !missing.includes(i) && isFailing(i) === id.startsWith("err-"));
    res.writeHead(200, { "content-type": "application/octet-stream" });
    for (const { one, i } of wanted.reverse()) res.write(`${JSON.stringify(isFailing(i) ? failure(one) : success(one))}\n`);
    res.end();
    return true;
  }

  function success(one: Record<string, unknown>): Record<string, unknown> {
    const { input } = one.body as { input: string | string[] };
    const embedding = wordVector([input].flat()[0] as string, dims);
    return { id: "r", custom_id: one.custom_id, response: { status_code: 200, body: { data: [{ index: 0, embedding }] } }, error: null };
  }

  function failure(one: Record<string, unknown>): Record<string, unknown> {
    return {
      id: "r",
      custom_id: one.custom_id,
      response: { status_code: 400, body: { error: { message: "this text is bad" } } },
      error: null,
    };
  }

  function removed(res: ServerResponse, id: string): boolean {
    fake.deleted.push(id);
    return send(res, { id, deleted: true });
  }

  return fake;
}

function send(res: ServerResponse, value: unknown, status = 200): boolean {
  sendJson(res, status, value);
  return true;
}
