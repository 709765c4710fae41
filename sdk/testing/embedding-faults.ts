import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { EmbeddingError } from "../define.ts";
import type { EmbeddingAdapter, EmbeddingContext, EmbeddingFault } from "../types/embedding.ts";
import { type ContractCase, rejectionOf, within } from "./contract.ts";
import { embeddingAnswerCases } from "./embedding-answers.ts";
import { embeddingContext, isEmbeddingError } from "./embedding-context.ts";

const KEY = "contract-key-8d1f0c5b7e";

interface FaultyServer {
  url: string;
  close(): Promise<void>;
}

/** Cases about a vendor that refuses, is busy, broken, silent or gone. */
export function embeddingFaultCases(adapter: EmbeddingAdapter, context: Partial<EmbeddingContext>): ContractCase[] {
  const refusal = (what: string, answer: Answer, expected: EmbeddingFault): ContractCase => ({
    name: `${what} is ${expected}, and the message shows no key`,
    async run() {
      const error = await failureAt(await answering(answer), { adapter, context });
      assert.equal(error.fault, expected, error.message);
      assert.ok(!`${error.message}${error.stack}${JSON.stringify(error)}`.includes(KEY), "the error shows the key");
      const wait = answer.headers?.["retry-after"];
      if (wait) assert.equal(error.retryAfterMs, Number(wait) * 1_000, "retryAfterMs");
    },
  });
  const status = (code: number, expected: EmbeddingFault, headers?: Record<string, string>) =>
    refusal(`${code} of the vendor`, { status: code, ...(headers ? { headers } : {}) }, expected);
  return [
    status(400, "invalid-request"),
    status(401, "auth"),
    status(403, "auth"),
    status(404, "model"),
    status(413, "too-long"),
    status(422, "invalid-request"),
    status(429, "rate-limit", { "retry-after": "7" }),
    refusal("429 of the vendor about money", { status: 429, words: "insufficient_quota: check your plan and billing" }, "quota"),
    status(500, "overloaded"),
    status(503, "overloaded"),
    status(529, "overloaded"),
    {
      name: "an answer that is not what was asked for is bad-response",
      async run() {
        const error = await failureAt(await answering({ status: 200 }), { adapter, context });
        assert.equal(error.fault, "bad-response", error.message);
      },
    },
    {
      name: "a vendor that cannot be reached is network",
      async run() {
        const server = await answering({ status: 200 });
        await server.close();
        assert.equal((await failureAt(server, { adapter, context })).fault, "network");
      },
    },
    {
      name: "an abort does not wait for a silent vendor",
      async run() {
        const server = await answering({ status: 0 });
        const stop = new AbortController();
        try {
          const { provider } = await adapter.create(aimedAt(server, context));
          const call = rejectionOf(provider.embedQuery("silence", { signal: stop.signal }));
          setTimeout(() => stop.abort(), 100);
          assert.notEqual(await within(call, 1_100, "an aborted call"), undefined);
          await provider.close?.();
        } finally {
          await server.close();
        }
      },
    },
    ...embeddingAnswerCases(adapter, context),
  ];
}

async function failureAt(
  server: FaultyServer,
  to: { adapter: EmbeddingAdapter; context: Partial<EmbeddingContext> },
): Promise<EmbeddingError> {
  try {
    const { provider } = await to.adapter.create(aimedAt(server, to.context));
    const error = await within(rejectionOf(provider.embedBatch(["one"])), 20_000, "a failing call");
    await provider.close?.();
    assert.ok(isEmbeddingError(error), `rejected with ${String(error)}`);
    return error;
  } finally {
    await server.close();
  }
}

function aimedAt(server: FaultyServer, context: Partial<EmbeddingContext>): EmbeddingContext {
  return embeddingContext({ ...context, remote: { ...context.remote, baseUrl: server.url, apiKey: KEY } });
}

interface Answer {
  /** 0: none, ever. */
  status: number;
  headers?: Record<string, string>;
  words?: string;
}

/** A server that answers everything alike and repeats the key it was given, as careless ones do. */
async function answering({ status, headers = {}, words = "not like this" }: Answer): Promise<FaultyServer> {
  const server = createServer((req, res) => {
    req.resume();
    if (status === 0) return;
    res.writeHead(status, { "content-type": "application/json", ...headers });
    res.end(JSON.stringify({ error: { message: `${words}: ${req.headers.authorization ?? KEY}` } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
