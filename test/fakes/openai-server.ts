import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { checkChatRequest } from "./openai-checks.ts";
import { type Script, scriptFor } from "./openai-scripts.ts";

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined without a body. */
  body: unknown;
  /** Resolves when the answer is over; `aborted` = the client's socket closed before its end. */
  ended: Promise<{ aborted: boolean }>;
}

export interface FakeOpenAi {
  /** Base address, with `/v1`. */
  url: string;
  apiKey: string;
  requests: RecordedRequest[];
  /** The next request for an answer that arrives, at most 5 s from now. Lists of models are read at any time. */
  nextRequest(): Promise<RecordedRequest>;
  /** Ends the silence of every answer that waits for it. */
  speak(): void;
  /** Connections accepted so far. */
  connections(): number;
  close(): Promise<void>;
}

/** A loopback server that speaks the chat completions protocol: checks key and request shape, records, and acts by model name (`openai-scripts.ts`). */
export async function startFakeOpenAi(options: { apiKey?: string; models?: string[] } = {}): Promise<FakeOpenAi> {
  const apiKey = options.apiKey ?? "sk-fake-0123456789abcdef";
  const requests: RecordedRequest[] = [];
  const waiting: Array<(request: RecordedRequest) => void> = [];
  const attempts = new Map<string, number>();
  let connections = 0;
  const silent = new Set<() => void>();
  const silence = () => new Promise<void>((resolve) => silent.add(resolve));

  const server = createServer((req, res) => {
    void handle(req, res).catch((error: unknown) => res.destroy(error as Error));
  });
  server.on("connection", () => {
    connections++;
  });

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text = await readText(req);
    const ended = once(res, "close").then(() => ({ aborted: !res.writableFinished }));
    const request = {
      method: req.method ?? "",
      path: req.url ?? "",
      headers: req.headers,
      body: text === "" ? undefined : JSON.parse(text),
      ended,
    };
    requests.push(request);
    if (request.method === "POST") waiting.shift()?.(request);
    if (!isKey(req.headers.authorization, apiKey))
      return sendError(res, { status: 401, message: "Incorrect API key provided", code: "invalid_api_key" });
    if (req.method === "GET" && req.url === "/v1/models") return sendModels(res, options.models ?? ["ok", "tool"]);
    if (req.method !== "POST" || req.url !== "/v1/chat/completions")
      return sendError(res, { status: 404, message: "Unknown request URL", code: "unknown_url" });
    if (!req.headers["content-type"]?.startsWith("application/json"))
      return sendError(res, { status: 400, message: "you must send JSON", code: null });
    const checked = checkChatRequest(request.body);
    if ("problem" in checked) return sendError(res, { status: 400, message: checked.problem, code: "invalid_value" });
    const attempt = (attempts.get(checked.request.model) ?? 0) + 1;
    attempts.set(checked.request.model, attempt);
    await play(scriptFor(checked.request, attempt), res, silence);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    apiKey,
    requests,
    nextRequest: () => withDeadline(new Promise((resolve) => waiting.push(resolve))),
    speak() {
      for (const go of silent) go();
      silent.clear();
    },
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function play(script: Script, res: ServerResponse, silence: () => Promise<void>): Promise<void> {
  if (script.kind === "hang") return;
  if (script.kind === "error") return sendJson(res, script.status, script.error, script.headers);
  if (script.silent === "at-head") await silence();
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  if (script.silent === "behind-head") {
    res.flushHeaders();
    await silence();
  }
  for (const chunk of script.chunks) {
    if (res.destroyed) return;
    res.write(`data: ${JSON.stringify(chunk)}\n\n`);
    if (script.pauseMs !== undefined) await sleep(script.pauseMs);
  }
  if (script.end === "cut") {
    res.write('data: {"id":"chatcmpl-fake","object":"chat.comp', () => res.destroy());
    return;
  }
  res.end(script.end === "garbage" ? 'data: {"choices": nonsense}\n\ndata: [DONE]\n\n' : "data: [DONE]\n\n");
}

function sendModels(res: ServerResponse, ids: string[]): void {
  sendJson(res, 200, { object: "list", data: ids.map((id) => ({ id, object: "model", created: 0, owned_by: "fake" })) });
}

function sendError(res: ServerResponse, error: { status: number; message: string; code: string | null }): void {
  sendJson(res, error.status, { error: { message: error.message, type: "invalid_request_error", param: null, code: error.code } });
}

function sendJson(res: ServerResponse, status: number, value: object, headers: Record<string, string> = {}): void {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(value));
}

function isKey(header: string | undefined, apiKey: string): boolean {
  const given = Buffer.from(header ?? "");
  const expected = Buffer.from(`Bearer ${apiKey}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

async function withDeadline<T>(promise: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = sleep(5_000, undefined, { signal: stop.signal }).then(() => {
    throw new Error("no request arrived within 5 s");
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
    late.catch(() => undefined);
  }
}
