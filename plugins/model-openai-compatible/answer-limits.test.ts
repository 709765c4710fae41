import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import fc from "fast-check";
import { isModelError, type ModelRequest } from "svc/sdk";
import { createTestRequests, type TestRequests } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { turnsDuring } from "../../test/fixtures/turns-during.ts";
import { type AnswerLimits, answerLimits, limited } from "./answer-limits.ts";
import { createProvider } from "./provider.ts";
import { createVendorFetch } from "./vendor-fetch.ts";

const logger = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => logger,
};
const request: ModelRequest = {
  model: "m",
  system: "",
  messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  tools: [],
  context: { agentId: "main", sessionKey: "agent:main:main", runId: "r1" },
};

describe("a server whose answer never ends", () => {
  let server: Server;
  let requests: TestRequests;
  /** Begins the server's answer; the rest is the letter x until the client has gone. */
  let begin: (res: ServerResponse) => void;
  let left: Promise<unknown>;

  beforeEach(async () => {
    server = createServer((_req, res) => {
      left = once(res, "close");
      begin(res);
      const pour = () => {
        while (!res.destroyed && res.write("x".repeat(65_536)));
      };
      res.on("drain", pour).on("error", () => undefined);
      pour();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    requests = createTestRequests();
  });
  afterEach(async () => {
    await requests.close();
    server.closeAllConnections();
    server.close();
  });

  const provider = () => {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const settings = {
      id: "lab",
      name: "lab",
      baseUrl,
      headers: {},
      timeoutMs: 30_000,
      firstAnswerMs: 30_000,
      models: [],
      maxTokensField: "max_tokens" as const,
    };
    return createProvider(settings, {
      fetch: createVendorFetch(requests.request, 30_000),
      clock: { now: () => 0, monotonic: () => 0 },
      logger,
    });
  };
  const faultOf = async () => {
    const read = async () => {
      for await (const _ of provider().stream(request, { signal: new AbortController().signal }));
    };
    const error: unknown = await read().catch((e: unknown) => e);
    return isModelError(error) ? `${error.fault}: ${error.message}` : String(error);
  };

  test("with one event is left when the event is too long", async () => {
    begin = (res) => void res.writeHead(200, { "content-type": "text/event-stream" }).write("data: ");
    expect(await faultOf()).toMatch(/^network: an event .* larger than/);
    await left;
  });

  test("with an error is left, and the error is told by its status", async () => {
    begin = (res) => void res.writeHead(503, { "content-type": "text/plain" });
    expect(await faultOf()).toMatch(/^overloaded: .*503/);
    await left;
  });

  test("with its list of models is left, and the probe says why", async () => {
    begin = (res) => void res.writeHead(200, { "content-type": "application/json" });
    expect(await provider().probe?.({ signal: new AbortController().signal })).toMatchObject({
      ok: false,
      reason: expect.stringContaining("larger than"),
    });
    await left;
  });
});

describe("an answer", () => {
  const bodyOf = (chunks: readonly string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const textOf = (body: Readable, limits: AnswerLimits) => new Response(limited(body, { isSuccess: true, limits })).text();

  test("of any number of events passes as it came, whatever the pieces it comes in", async () => {
    const event = fc.tuple(fc.string({ unit: "grapheme-ascii", maxLength: 20 }), fc.constantFrom("\n", "\r\n"));
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), async (events, size) => {
        const text = events.map(([data, end]) => `data: ${data.replace(/[\r\n]/g, "")}${end}${end}`).join("");
        const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
        expect(await textOf(bodyOf(chunks), { maxBytes: 10_000, maxEventBytes: 30, maxEventParts: 30 })).toBe(text);
      }),
    );
  });

  test("that comes faster than it can be read leaves others their turn", async () => {
    let left = 40;
    const busy = new Readable({
      highWaterMark: 1,
      read() {
        const until = performance.now() + 2;
        while (performance.now() < until);
        this.push(left-- > 0 ? new Uint8Array(8) : null);
      },
    });

    expect(await turnsDuring(() => textOf(busy, answerLimits))).toBeGreaterThan(5);
  });

  test("that is left early ends its body at once, whether more comes or not", async () => {
    const silent = new Readable({ read: () => undefined });
    await limited(silent, { isSuccess: true, limits: answerLimits }).cancel();
    expect(silent.destroyed).toBe(true);
  });

  test("is not judged by the brackets in its texts", async () => {
    const chunks = [`data: "[[[[\\"[[[,,`, `,,,,,\\\\"\n\ndata: "[[[[[[[["\n\n`];
    expect(await textOf(bodyOf(chunks), { maxBytes: 100, maxEventBytes: 50, maxEventParts: 2 })).toBe(chunks.join(""));
  });

  test.each([
    ["altogether", ["data: 1\n\n".repeat(20)]],
    ["in an event of several lines", ["data: 1\n".repeat(8)]],
    ["in an event that comes in pieces", Array<string>(60).fill("x")],
    ["by what an event is made of", ["data: [[", "],{},0,0,", "0,0,0,0]\n\n"]],
  ])("that is too long %s breaks off with a fault of the server", async (_name, chunks) => {
    const read = textOf(bodyOf(chunks), { maxBytes: 100, maxEventBytes: 50, maxEventParts: 9 });
    await expect(read).rejects.toMatchObject({ fault: "network", message: expect.stringContaining("larger than") });
  });
});
