import { createServer, request, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createStartupGate, type StartupGate } from "./startup-gate.ts";

let server: Server;
let startupGate: StartupGate;
const sockets: Socket[] = [];
const eventLoop = { degraded: false, delayP99Ms: 20, delayMaxMs: 30, utilization: 0.1 };
beforeEach(async () => {
  startupGate = createStartupGate(() => eventLoop);
  server = createServer(startupGate.handler).on("upgrade", startupGate.upgrade);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const port = () => (server.address() as AddressInfo).port;
async function ask(path: string): Promise<{ status: number | undefined; retryAfter: string | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const req = request({ port: port(), path, agent: false }, async (res) =>
      resolve({ status: res.statusCode, retryAfter: res.headers["retry-after"], body: await text(res) }),
    );
    req.on("error", reject).end();
  });
}
function upgrading(): Socket {
  const socket = connect(port(), "127.0.0.1");
  sockets.push(socket);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  return socket;
}
const open = () =>
  startupGate.open({ handler: (_req, res) => res.end("inside"), upgrade: (_req, socket) => socket.end("HTTP/1.1 101 x\r\n\r\n") });
const arrived = (count: number) =>
  expect.poll(() => new Promise((resolve) => server.getConnections((_error, n) => resolve(n)))).toBe(count);

test("probes are answered before anything else is there", async () => {
  expect(await ask("/healthz")).toMatchObject({ status: 200, body: '{"ok":true,"status":"live"}' });
  const { status, body } = await ask("/readyz");
  expect([status, JSON.parse(body)]).toMatchObject([503, { ready: false, phase: "starting", eventLoop }]);
});

test("a request and an upgrade that come too early are taken in as soon as there is somebody", async () => {
  const early = ask("/v1/models");
  const socket = upgrading();
  await arrived(2);
  open();
  expect(await early).toMatchObject({ status: 200, body: "inside" });
  expect(await text(socket)).toContain("101");
  expect(await ask("/healthz")).toMatchObject({ body: "inside" });
});

test("a connection that breaks while it waits hurts nobody", async () => {
  const socket = upgrading();
  await arrived(1);
  socket.resetAndDestroy();
  await arrived(0);
  open();
  expect(await ask("/")).toMatchObject({ body: "inside" });
});

test("256 wait, the next are told to come back", async () => {
  const early = Array.from({ length: 256 }, () => upgrading());
  await arrived(256);
  await expect
    .poll(
      async () =>
        (await Promise.race([ask("/late"), new Promise<{ status: number }>((r) => setTimeout(() => r({ status: 0 }), 200))])).status,
    )
    .toBe(503);
  expect(await ask("/late")).toMatchObject({ status: 503, retryAfter: "1" });
  expect(await text(upgrading())).toMatch(/^HTTP\/1\.1 503 .*Retry-After: 1/s);
  open();
  expect(await text(early[0] as Socket)).toContain("101");
});
