import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

export interface ModelServerRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Body as it came. */
  text: string;
  /** Parsed JSON; undefined without a body. */
  body: unknown;
  /** Resolves when the answer is over; `aborted` = the client's socket closed before its end. */
  ended: Promise<{ aborted: boolean }>;
}

/** Answer of a fake vendor: a document, a stream of frames, or nothing for as long as the client waits. */
export type ModelServerAnswer =
  | { kind: "json"; status: number; body: unknown; headers?: Record<string, string> }
  /** Behind the last frame the answer ends; with `cut` the connection does, with `hang` nothing more comes. */
  | { kind: "stream"; type: string; frames: readonly string[]; pauseMs?: number; end?: "cut" | "hang" }
  | { kind: "silence" };

export interface ModelServer {
  /** Origin, without a trailing slash. */
  origin: string;
  requests: ModelServerRequest[];
  /** The next request that arrives, at most 5 s from now. */
  nextRequest(): Promise<ModelServerRequest>;
  close(): Promise<void>;
}

/** A loopback server of a model vendor: records what arrives and sends answers in pieces that end anywhere, the same ones for the same seed. */
export async function startModelServer(answer: (request: ModelServerRequest) => ModelServerAnswer, seed = 1): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  const waiting: Array<(request: ModelServerRequest) => void> = [];
  const random = randomOf(seed);
  const server = createServer((req, res) => {
    res.on("error", () => undefined);
    void receive(req, res)
      .then((request) => {
        requests.push(request);
        waiting.shift()?.(request);
        return send(res, answer(request), random);
      })
      .catch((error: unknown) => res.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    nextRequest: () => withDeadline(new Promise((resolve) => waiting.push(resolve))),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function receive(req: IncomingMessage, res: ServerResponse): Promise<ModelServerRequest> {
  const ended = once(res, "close").then(() => ({ aborted: !res.writableFinished }));
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const body: unknown = text === "" ? undefined : JSON.parse(text);
  return { method: req.method ?? "", path: req.url ?? "", headers: req.headers, text, body, ended };
}

async function send(res: ServerResponse, answer: ModelServerAnswer, random: () => number): Promise<void> {
  if (answer.kind === "silence") return;
  if (answer.kind === "json") {
    res.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(JSON.stringify(answer.body));
    return;
  }
  res.writeHead(200, { "content-type": answer.type });
  res.flushHeaders();
  for (const frame of answer.frames) {
    for (const piece of piecesOf(Buffer.from(frame), random)) {
      if (res.destroyed) return;
      res.write(piece);
      await nextTurn();
    }
    if (answer.pauseMs !== undefined) await sleep(answer.pauseMs);
  }
  if (answer.end === "cut") res.write("", () => res.destroy());
  else if (answer.end === undefined) res.end();
}

/** Up to three pieces; their ends fall into lines and characters. */
function piecesOf(bytes: Buffer, random: () => number): Buffer[] {
  const [first = 0, second = 0] = [random(), random()].map((at) => Math.floor(at * bytes.length)).sort((a, b) => a - b);
  return [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)].filter(({ length }) => length > 0);
}

/** A linear congruential generator. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
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
