import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { EventStreamCodec } from "@smithy/core/event-streams";
import { type AwsIdentity, signatureProblem } from "./aws-signature.ts";
import { type ConverseBody, checkConverse } from "./bedrock-converse-checks.ts";
import { type ConverseScript, type Frame, framesOf, scriptFor } from "./bedrock-converse-scripts.ts";

export interface ConverseRequest {
  model: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Body as it came. */
  text: string;
  body: ConverseBody;
  /** Reason for which it was refused, if it was. */
  refused?: string;
  /** Resolves when the answer is over; `aborted` = the client's socket closed before its end. */
  ended: Promise<{ aborted: boolean }>;
}

export interface FakeConverse {
  /** Base address. */
  url: string;
  identity: AwsIdentity;
  /** Everything that arrived, refused ones too. */
  requests: ConverseRequest[];
  /** The next request that arrives. */
  nextRequest(): Promise<ConverseRequest>;
  close(): Promise<void>;
}

export interface FakeConverseOptions {
  /** API key to be shown; without one requests are signed for the region. */
  bearer?: string;
  region?: string;
  seed?: number;
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
  (text) => Buffer.from(text, "utf8"),
);

/**
 * A loopback server that speaks `ConverseStream` over HTTP/1.1: it makes every signature again, checks the whole conversation, and acts by what stands behind the
 * first colon in the name of the model (`bedrock-converse-scripts.ts`). Blocks of an answer that called tools
 * must come back to the same model as they went out.
 */
export async function startFakeConverse({ bearer, region = "us-east-1", seed = 1 }: FakeConverseOptions = {}): Promise<FakeConverse> {
  const identity: AwsIdentity = { accessKeyId: "AKIAFAKEBEDROCK00001", secretAccessKey: "fake/secret+of/bedrock0123456789abcdefgh" };
  const issued = new Map<string, object[]>();
  const attempts = new Map<string, number>();
  const waiting: Array<(request: ConverseRequest) => void> = [];
  const random = createRandom(seed);
  const server = createServer((req, res) => {
    res.on("error", () => undefined);
    void handle(req, res).catch((error: unknown) => res.destroy(error as Error));
  });

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const bytes = await buffer(req);
    const text = bytes.toString("utf8");
    const model = decodeURIComponent(/^\/model\/([\w.~%-]+)\/converse-stream$/.exec(req.url ?? "")?.[1] ?? "");
    const ended = once(res, "close").then(() => ({ aborted: !res.writableFinished }));
    const request: ConverseRequest = {
      ...{ model, path: req.url ?? "", headers: req.headers, text, ended },
      body: (text === "" ? {} : JSON.parse(text)) as ConverseBody,
    };
    fake.requests.push(request);
    waiting.shift()?.(request);
    const script = refusal(req, bytes, model) ?? conversed(request);
    if ("status" in script) return fail(res, script);
    for (const block of script.content)
      if ("toolUse" in block) issued.set(`${model} ${(block.toolUse as { toolUseId: string }).toolUseId}`, script.content);
    await stream(res, script, random);
  }

  function refusal(req: IncomingMessage, bytes: Buffer, model: string): ConverseScript | undefined {
    const shown = req.headers.authorization ?? "";
    const problem =
      bearer === undefined
        ? signatureProblem(req, bytes, { ...identity, region, service: "bedrock" })
        : shown === `Bearer ${bearer}`
          ? undefined
          : { type: "AccessDeniedException", message: `Authentication failed: ${shown} is not a valid API key` };
    if (problem) return { status: 403, ...problem };
    if (req.method !== "POST" || model === "") return { status: 404, type: "UnknownOperationException", message: "no such operation" };
    return req.headers["content-type"] === "application/json"
      ? undefined
      : { status: 400, type: "ValidationException", message: "send JSON" };
  }

  function conversed(request: ConverseRequest): ConverseScript {
    const problem = checkConverse(request.model, request.body, issued);
    if (problem !== undefined) {
      request.refused = problem;
      return { status: 400, type: "ValidationException", message: problem };
    }
    const attempt = (attempts.get(request.model) ?? 0) + 1;
    attempts.set(request.model, attempt);
    return scriptFor(request.model, request.body, attempt);
  }

  const fake: FakeConverse = {
    ...{ url: "", identity, requests: [] },
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  // A connection closed for idleness just as the next request goes out is a network error that no test asked for.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}

async function stream(res: ServerResponse, script: Exclude<ConverseScript, { status: number }>, random: () => number): Promise<void> {
  res.writeHead(200, { "content-type": "application/vnd.amazon.eventstream", "x-amzn-requestid": "fake" });
  res.flushHeaders();
  const all = framesOf(script).map(encoded);
  const bytes = Buffer.concat(all.slice(0, script.frames ?? all.length));
  for (let at = 0; at < bytes.length && !res.destroyed; ) {
    const size = 1 + Math.floor(random() * 400);
    res.write(bytes.subarray(at, at + size));
    at += size;
    await nextTurn();
  }
  const next = all[script.frames ?? all.length] ?? Buffer.alloc(0);
  // Half a frame, then the end of the connection; or a frame whose checksum is wrong.
  if (script.end === "cut") res.write(next.subarray(0, 10), () => res.destroy());
  else if (script.end === "broken") res.end(Buffer.concat([next.subarray(0, -1), Buffer.from([(next.at(-1) ?? 0) ^ 1])]));
  else if (script.end === undefined) res.end();
}

function encoded(frame: Frame): Buffer {
  const string = (value: string) => ({ type: "string" as const, value });
  const kind: Record<string, string> =
    "event" in frame
      ? { ":event-type": frame.event, ":message-type": "event" }
      : "exception" in frame
        ? { ":exception-type": frame.exception, ":message-type": "exception" }
        : { ":error-code": frame.error, ":error-message": frame.message, ":message-type": "error" };
  const headers = Object.fromEntries(Object.entries({ ...kind, ":content-type": "application/json" }).map(([k, v]) => [k, string(v)]));
  const body = "event" in frame ? frame.body : { message: frame.message };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) }));
}

function fail(res: ServerResponse, { status, type, message, headers }: Extract<ConverseScript, { status: number }>): void {
  res.writeHead(status, { "content-type": "application/json", ...(type === undefined ? {} : { "x-amzn-errortype": type }), ...headers });
  res.end(JSON.stringify({ message }));
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
