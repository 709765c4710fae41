import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { closeRawSockets, dial, type RawSocket, statusesOf, upgradeRequest } from "./_raw.ts";

let gateway: TestGateway;
let port: number;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [] });
  port = gateway.gateway.port;
});
afterAll(() => gateway.close());
afterEach(closeRawSockets);

/** The gateway has let go of the connection: it resets what is still sent on it. */
async function expectReleased(raw: RawSocket): Promise<void> {
  await raw.ended;
  let isClosed = false;
  void raw.closed.then(() => {
    isClosed = true;
  });
  await eventually(() => {
    raw.write("x");
    return isClosed;
  });
}

const handed: Array<[string, string, number]> = [
  ["a CONNECT", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n", 405],
  ["an upgrade to a path that takes none", upgradeRequest("/nowhere"), 404],
  ["an upgrade without a key", upgradeRequest("/").replace(/Sec-WebSocket-Key.*\r\n/, ""), 400],
  ["a head that cannot be read", "G@T / HTTP/1.1\r\n\r\n", 400],
];

describe("a connection is answered and closed for good, although the client keeps its own side open, after", () => {
  test.each(handed)("%s", async (_, request, status) => {
    const raw = await dial(port);
    raw.write(request);
    await expectReleased(raw);
    expect(statusesOf(raw.received())).toEqual([status]);
  });
});

describe("a reset of the connection harms nobody after", () => {
  test.each(handed)("%s", async (_, request) => {
    const faults: unknown[] = [];
    const onFault = (error: unknown) => void faults.push(error);
    const others = process.rawListeners("uncaughtException") as Array<(error: Error) => void>;
    process.removeAllListeners("uncaughtException").on("uncaughtException", onFault);
    try {
      for (let i = 0; i < 5; i++) {
        const raw = await dial(port);
        raw.write(request);
        if (i > 0) await eventually(() => raw.received() !== "");
        raw.socket.resetAndDestroy();
      }
      for (let i = 0; i < 3; i++) expect((await gateway.fetch("/healthz")).status).toBe(200);
    } finally {
      process.off("uncaughtException", onFault);
      for (const listener of others) process.on("uncaughtException", listener);
    }
    expect(faults).toEqual([]);
  });
});
