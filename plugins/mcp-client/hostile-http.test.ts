import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "svc/sdk";
import { eventually, vendorIn } from "svc/sdk/testing";
import { afterEach, expect } from "vitest";
import { needsMcp } from "../../test/servers/mcp-peers.ts";
import { openConnection } from "./connection.ts";
import { loadMcpLibrary } from "./library.ts";
import { MAX_MESSAGE_BYTES } from "./server-fetch.ts";
import type { ServerSettings } from "./settings.ts";

const { test } = await needsMcp("mcp-client");

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Handler = (request: IncomingMessage & { message?: { id?: number; method?: string } }, response: ServerResponse) => void;

async function listen(handler: Handler): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    handler(Object.assign(request, body === "" ? {} : { message: JSON.parse(body) }), response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = (response: ServerResponse, body: object | string) =>
  response.writeHead(200, { "content-type": "application/json" }).end(typeof body === "string" ? body : JSON.stringify(body));
const hello = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };

/** Answers the handshake, and leaves all else to `rest`. */
const polite =
  (rest: Handler): Handler =>
  (request, response) => {
    const { id, method } = request.message ?? {};
    if (method === "initialize") return json(response, { jsonrpc: "2.0", id, result: hello });
    if (method === "notifications/initialized") return response.writeHead(202).end();
    rest(request, response);
  };

async function connect(url: string, own: Partial<ServerSettings> = {}) {
  const library = await loadMcpLibrary(vendorIn(new URL(".", import.meta.url)));
  const settings = {
    ...{ name: "s", kind: "http", url: `${url}/mcp`, headers: { "x-api-key": "hunter2" }, tools: { deny: [] } },
    ...{ approval: "never", timeoutMs: 10_000, startMs: 3_000, protocol: "legacy", ...own },
  } as ServerSettings;
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined } as unknown as Logger;
  const nobody = { onClosed: () => undefined, onToolsChanged: () => undefined };
  return openConnection(
    settings,
    { library, version: "0", fetch, logger, monotonic: () => performance.now(), ...nobody },
    AbortSignal.timeout(3_000),
  );
}

test("a redirect to another origin is not followed, and its target gets no header", async () => {
  const asked: IncomingMessage[] = [];
  const inner = await listen((request, response) => {
    asked.push(request);
    json(response, {});
  });
  const outer = await listen((_request, response) => response.writeHead(307, { location: `${inner}/mcp` }).end());
  await expect(connect(outer)).rejects.toThrow();
  await expect(connect(outer, { protocol: "auto" })).rejects.toThrow();
  expect(asked).toEqual([]);
});

test("an answer without an end is cut off", async () => {
  const url = await listen(
    polite((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    }),
  );
  const connection = await connect(url);
  await expect(connection.listTools(AbortSignal.timeout(10_000))).rejects.toThrow(`more than ${MAX_MESSAGE_BYTES} bytes`);
  await connection.close();
});

test("a server that never answers costs the time limit", async () => {
  const url = await listen(() => undefined);
  await expect(connect(url, { startMs: 200 })).rejects.toThrow();
});

test("a stream that the server closes at once, asking to be opened again at once, is opened after a second", async () => {
  let streams = 0;
  const url = await listen(
    polite((request, response) => {
      if (request.method !== "GET") return json(response, {});
      streams++;
      response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 0\nid: 1\ndata:\n\n");
    }),
  );
  const connection = await connect(url);
  await eventually(() => streams === 2);
  expect(streams).toBe(2);
  await connection.close();
});
