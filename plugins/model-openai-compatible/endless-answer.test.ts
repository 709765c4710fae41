import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isModelError, type ModelRequest } from "svc/sdk";
import { createVendorFetch } from "svc/sdk/internal";
import { createTestRequests, type TestRequests } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProvider } from "./provider.ts";

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
