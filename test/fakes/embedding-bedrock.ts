import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type AwsIdentity, signatureProblem } from "./aws-signature.ts";
import { answerFor, bodyProblem, dimsOf } from "./bedrock-models.ts";

/** Answer to one request instead of vectors. */
export type BedrockFault =
  | { status: number; type?: string; message?: string; headers?: Record<string, string> }
  | "reset"
  | "hang"
  | "truncated"
  | "no-json"
  | "wrong-count"
  | "wrong-dims"
  | "not-a-number";

export interface BedrockRequest {
  modelId: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  /** Resolves when the answer is over; `aborted` = the client's socket closed before its end. */
  ended: Promise<{ aborted: boolean }>;
}

export interface FakeBedrock {
  /** Base address. */
  url: string;
  identity: AwsIdentity;
  /** Everything that arrived, refused ones too. */
  requests: BedrockRequest[];
  /** Answers of the next requests, one each. */
  faults: BedrockFault[];
  /** Answer of every request while it is set. */
  outage: BedrockFault | undefined;
  /** Requests stay unanswered until the returned function is called. */
  pause(): () => void;
  /** Most requests that were open at once. */
  maxOpen(): number;
  close(): Promise<void>;
}

export interface FakeBedrockOptions {
  region?: string;
  sessionToken?: string;
  /** API key to be shown instead of signatures. */
  bearer?: string;
}

/** A loopback server that speaks `InvokeModel` over HTTP/1.1: it makes every signature again, checks the body by the model's family, and records. */
export async function startFakeBedrock({ region = "us-east-1", sessionToken, bearer }: FakeBedrockOptions = {}): Promise<FakeBedrock> {
  const identity: AwsIdentity = {
    accessKeyId: "AKIAFAKEBEDROCK00001",
    secretAccessKey: "fake/secret+of/bedrock0123456789abcdefgh",
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
  let open = 0;
  let maxOpen = 0;
  let gate: Promise<void> = Promise.resolve();
  const server = createServer((req, res) => {
    maxOpen = Math.max(maxOpen, ++open);
    res.once("close", () => open--);
    void handle(req, res).catch((error: unknown) => res.destroy(error as Error));
  });

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const bytes = await buffer(req);
    const modelId = decodeURIComponent(/^\/model\/([^/]+)\/invoke$/.exec(req.url ?? "")?.[1] ?? "");
    const body = bytes.length === 0 ? {} : (JSON.parse(bytes.toString("utf8")) as Record<string, unknown>);
    const ended = once(res, "close").then(() => ({ aborted: !res.writableFinished }));
    fake.requests.push({ modelId, path: req.url ?? "", headers: req.headers, body, ended });
    await gate;
    const refused = authProblem(req, bytes);
    if (refused) return fail(res, { status: 403, ...refused });
    const fault = fake.outage ?? fake.faults.shift();
    if (fault === "hang") return;
    if (fault === "reset") return void res.socket?.resetAndDestroy();
    if (typeof fault === "object") return fail(res, fault);
    if (req.method !== "POST" || modelId === "") return fail(res, { status: 404, type: "UnknownOperationException" });
    if (req.headers["content-type"] !== "application/json" || req.headers.accept !== "application/json") {
      return fail(res, { status: 400, type: "ValidationException", message: "expected JSON both ways" });
    }
    const problem = bodyProblem(modelId, body);
    if (problem) return fail(res, { status: 400, type: "ValidationException", message: `Malformed input request: ${problem}` });
    succeed(res, { modelId, body, fault });
  }

  function authProblem(req: IncomingMessage, bytes: Buffer): { type: string; message: string } | undefined {
    if (bearer === undefined) return signatureProblem(req, bytes, { ...identity, region, service: "bedrock" });
    const shown = req.rawHeaders.filter((_, i) => req.rawHeaders[i - 1]?.toLowerCase() === "authorization" && i % 2 === 1);
    if (shown.length === 1 && shown[0] === `Bearer ${bearer}`) return undefined;
    return { type: "AccessDeniedException", message: `Authentication failed: ${shown.join()} is not a valid API key` };
  }

  const fake: FakeBedrock = {
    url: "",
    identity,
    requests: [],
    faults: [],
    outage: undefined,
    pause() {
      let resume: () => void = () => undefined;
      gate = new Promise((resolve) => {
        resume = resolve;
      });
      return () => resume();
    },
    maxOpen: () => maxOpen,
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

function succeed(
  res: ServerResponse,
  { modelId, body, fault }: { modelId: string; body: Record<string, unknown>; fault: BedrockFault | undefined },
): void {
  const dims = fault === "wrong-dims" ? 7 : dimsOf(modelId, body);
  const { answer, tokens } = answerFor(modelId, { body, dims, isShort: fault === "wrong-count" });
  const good = JSON.stringify(answer);
  const text = fault === "not-a-number" ? good.replace(/\[-?[\d.e-]+,/, "[NaN,") : fault === "no-json" ? "<html>busy</html>" : good;
  const headers = { "content-type": "application/json", "x-amzn-bedrock-input-token-count": String(tokens) };
  if (fault !== "truncated") return void res.writeHead(200, headers).end(text);
  // Whole by its length, broken by its content, as a cut-off proxy answers.
  res.writeHead(200, headers).end(text.slice(0, text.length / 2));
}

function fail(res: ServerResponse, fault: { status: number; type?: string; message?: string; headers?: Record<string, string> }): void {
  const { status, type, message = "as the script says", headers } = fault;
  res.writeHead(status, { "content-type": "application/json", ...(type === undefined ? {} : { "x-amzn-errortype": type }), ...headers });
  res.end(JSON.stringify({ message }));
}
