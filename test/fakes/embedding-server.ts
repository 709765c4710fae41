import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "../../sdk/testing/eventually.ts";

/** Answer of the vendor to one embedding request. */
export type FakeAnswer =
  | "ok"
  /** The vectors come in another order, each with its index. */
  | "shuffled"
  /** The connection breaks before the answer. */
  | "reset"
  /** Never an answer. */
  | "hang"
  /** One vector too few. */
  | "wrong-count"
  /** The last vector is shorter than the others. */
  | "short-vector"
  /** All vectors have half the length. */
  | "wrong-dims"
  /** A number that is none. */
  | "nan"
  /** The JSON ends in its middle. */
  | "truncated"
  | { status: number; message?: string; code?: string; headers?: Record<string, string> };

export interface RecordedEmbedding {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Names as they were sent, one entry for each time. */
  headerNames: string[];
  /** Parsed JSON; the bytes of anything else. */
  body: unknown;
  /** Resolves when the answer is over; `aborted` = the client's socket closed before its end. */
  ended: Promise<{ aborted: boolean }>;
}

/** The server of a vendor on loopback. */
export interface FakeEmbeddings {
  /** Address for `baseUrl`. */
  url: string;
  apiKey: string;
  requests: RecordedEmbedding[];
  /** Sets the answers to the next embedding requests, one each; requests after them succeed. */
  script(...answers: FakeAnswer[]): void;
  /** Sets the answer to every embedding request after the scripted ones. */
  always(answer: FakeAnswer): void;
  /** The request with this number, from 0, once it has arrived. */
  request(index: number): Promise<RecordedEmbedding>;
  /** Connections accepted so far. */
  connections(): number;
  close(): Promise<void>;
}

export interface FakeOptions {
  script?: FakeAnswer[];
  apiKey?: string;
  dims?: number;
}

/** One answer that went well, before it is spoilt by the script. */
export interface Vectors {
  vectors: number[][];
  /** The vectors as the answer shows them. `NaN` and the like may be in them. */
  toBody(vectors: number[][]): unknown;
}

/** Differences of a vendor from the others. */
export interface FakeVendor {
  path: string | RegExp;
  /** @returns what is wrong with the request, or the vectors */
  embed(request: RecordedEmbedding): Vectors | { status: number; message: string };
  /** Whether the request may be answered at all; default: `Authorization: Bearer <key>` exactly once. */
  isAuthorized?(request: RecordedEmbedding, apiKey: string): boolean;
  errorBody?(error: { status: number; message: string; code?: string | undefined }): unknown;
  /** Other routes; true when it has answered. */
  route?(request: RecordedEmbedding, res: ServerResponse): boolean;
}

export async function startFakeEmbeddings(vendor: FakeVendor, options: FakeOptions = {}): Promise<FakeEmbeddings> {
  const apiKey = options.apiKey ?? "fake-vendor-key-0123456789";
  const requests: RecordedEmbedding[] = [];
  const script = [...(options.script ?? [])];
  let otherwise: FakeAnswer = "ok";
  let connections = 0;

  const server = createServer((req, res) => {
    void handle(req, res).catch((error: unknown) => res.destroy(error as Error));
  });
  server.on("connection", () => {
    connections++;
  });

  const refuse = (res: ServerResponse, error: { status: number; message: string; code?: string | undefined }, headers = {}) =>
    sendJson(res, error.status, vendor.errorBody?.(error) ?? { error: { message: error.message, code: error.code ?? null } }, headers);

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const ended = once(res, "close").then(() => ({ aborted: !res.writableFinished }));
    const request = { ...(await record(req)), ended };
    requests.push(request);
    const isAuthorized = vendor.isAuthorized ?? hasBearer;
    if (!isAuthorized(request, apiKey)) return refuse(res, { status: 401, message: `Incorrect API key: ${req.headers.authorization}` });
    if (vendor.route?.(request, res)) return;
    if (req.method !== "POST" || !isAt(vendor.path, req.url ?? "")) return refuse(res, { status: 404, message: "unknown route" });
    const answer = script.shift() ?? otherwise;
    if (answer === "hang") return;
    if (answer === "reset") return void req.socket.resetAndDestroy();
    if (typeof answer === "object") return refuse(res, { message: "scripted", ...answer }, answer.headers);
    const found = vendor.embed(request);
    if ("status" in found) return refuse(res, found);
    spoil(res, found, answer);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey,
    requests,
    script: (...answers) => void script.push(...answers),
    always: (answer) => {
      otherwise = answer;
    },
    request: async (index) => {
      await eventually(() => requests.length > index);
      return requests[index] as RecordedEmbedding;
    },
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function isAt(path: string | RegExp, url: string): boolean {
  return typeof path === "string" ? url === path : path.test(url);
}

function spoil(res: ServerResponse, { vectors, toBody }: Vectors, answer: FakeAnswer): void {
  const half = (vector: number[]) => vector.slice(0, vector.length / 2);
  const last = vectors.length - 1;
  if (answer === "wrong-count") return sendJson(res, 200, toBody(vectors.slice(0, -1)));
  if (answer === "wrong-dims") return sendJson(res, 200, toBody(vectors.map(half)));
  if (answer === "short-vector") return sendJson(res, 200, toBody(vectors.map((vector, i) => (i === last ? half(vector) : vector))));
  if (answer === "nan")
    return sendJson(res, 200, toBody(vectors.map((vector, i) => (i === last ? [Number.NaN, ...vector.slice(1)] : vector))));
  const body = toBody(vectors);
  if (answer === "shuffled") return sendJson(res, 200, { ...(body as object), data: (body as { data: unknown[] }).data.reverse() });
  if (answer !== "truncated") return sendJson(res, 200, body);
  const text = JSON.stringify(body);
  res.writeHead(200, { "content-type": "application/json" });
  res.end(text.slice(0, text.length / 2));
}

export function sendJson(res: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(value));
}

async function record(req: IncomingMessage): Promise<Omit<RecordedEmbedding, "ended">> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const isJson = req.headers["content-type"]?.startsWith("application/json") === true;
  return {
    method: req.method ?? "",
    path: req.url ?? "",
    headers: req.headers,
    headerNames: req.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()),
    body: isJson ? JSON.parse(bytes.toString("utf8")) : bytes,
  };
}

function hasBearer({ headers, headerNames }: RecordedEmbedding, apiKey: string): boolean {
  return headerNames.filter((name) => name === "authorization").length === 1 && headers.authorization === `Bearer ${apiKey}`;
}
