import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTcp } from "node:net";
import { afterEach, expect, test } from "vitest";
import { countDescriptors, readDescriptorLimit } from "./descriptors.ts";
import { answersAsGateway, isBindable } from "./gateway-probe.ts";

const open: Array<{ close(): unknown }> = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function listening(server: Server | ReturnType<typeof createTcp>): Promise<number> {
  open.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}
const answering = (body: string) => listening(createServer((_req, res) => void res.end(body)));

test("what says that it lives at /healthz is a gateway, on a wildcard address too", async () => {
  const port = await answering('{"ok":true,"status":"live"}');
  expect(await answersAsGateway("127.0.0.1", port)).toBe(true);
  expect(await answersAsGateway("0.0.0.0", port)).toBe(true);
});

test("another server, one that is silent or hangs up, and nobody are none", async () => {
  expect(await answersAsGateway("127.0.0.1", await answering("hello"))).toBe(false);
  expect(await answersAsGateway("127.0.0.1", await listening(createTcp((socket) => void socket.destroy())))).toBe(false);
  expect(
    await answersAsGateway("127.0.0.1", await listening(createTcp((socket) => void socket.on("error", () => undefined).resume()))),
  ).toBe(false);
  const port = await answering("");
  open.pop()?.close();
  expect(await answersAsGateway("127.0.0.1", port)).toBe(false);
});

test("an address of this machine can be bound, one of somebody else cannot", async () => {
  expect(await isBindable("127.0.0.1")).toBe(true);
  expect(await isBindable("192.0.2.1")).toBe(false);
});

test("a system that tells how many descriptors there are tells it", async () => {
  const [limit, count] = await Promise.all([readDescriptorLimit(), countDescriptors()]);
  if (process.platform !== "linux") return expect([limit, count]).toEqual([undefined, undefined]);
  expect(limit).toBeGreaterThan(count ?? Number.POSITIVE_INFINITY);
  expect(count).toBeGreaterThan(2);
});
