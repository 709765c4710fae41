import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface EventServerRequest {
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

/** Answer of the server. */
export type EventServerReply =
  | { status: number; body: object; headers?: Record<string, string> }
  /** Server-sent events, each a whole one; `end: "cut"` closes the socket behind them, `"hang"` leaves it open. */
  | { events: readonly string[]; end?: "cut" | "hang" };

export interface EventServer {
  /** Origin, without a path. */
  url: string;
  requests: EventServerRequest[];
  /** The next request that arrives. */
  nextRequest(): Promise<EventServerRequest>;
  close(): Promise<void>;
}

/** A loopback server that records what it gets, and sends its streams in pieces that end anywhere, in the middle of characters too. */
export async function startEventServer(reply: (request: EventServerRequest) => EventServerReply, seed = 1): Promise<EventServer> {
  const requests: EventServerRequest[] = [];
  const waiting: Array<(request: EventServerRequest) => void> = [];
  const random = createRandom(seed);
  const server = createServer((req, res) => {
    void handle(req, res).catch((error: unknown) => res.destroy(error as Error));
  });

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text = await readText(req);
    const request: EventServerRequest = {
      ...{ method: req.method ?? "", path: req.url ?? "", headers: req.headers, text },
      body: text === "" ? undefined : JSON.parse(text),
      ended: once(res, "close").then(() => ({ aborted: !res.writableFinished })),
    };
    requests.push(request);
    waiting.shift()?.(request);
    const answer = reply(request);
    if ("events" in answer) return sendEvents(res, answer, random);
    res.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    res.end(JSON.stringify(answer.body));
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function sendEvents(
  res: ServerResponse,
  { events, end }: Extract<EventServerReply, { events: readonly string[] }>,
  random: () => number,
): Promise<void> {
  res.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  res.flushHeaders();
  const bytes = Buffer.from(events.join(""));
  for (let at = 0; at < bytes.length && !res.destroyed; ) {
    const size = 1 + Math.floor(random() * 400);
    res.write(bytes.subarray(at, at + size));
    at += size;
    await nextTurn();
  }
  if (end === "cut") res.write("event: content_bl", () => res.destroy());
  else if (end === undefined) res.end();
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
