import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { fixture } from "./_fixtures.ts";
import { closeRawSockets, dial, upgradeRequest } from "./_raw.ts";
import { connected } from "./_ws.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [fixture("leaky")] });
});
afterAll(() => gateway.close());
afterEach(closeRawSockets);

/** A client frame with an empty mask. */
const frame = (opcode: number, payload: Buffer) =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
/** First two bytes of a pong of six bytes. */
const pongHead = "\x8a\x06";
const ping = (n: number) => frame(9, Buffer.from(String(n).padStart(6, "0")));

test("a flood of pings before the handshake is answered for the most recent ones, and the last is one of them", async () => {
  const raw = await dial(gateway.gateway.port);
  raw.write(upgradeRequest("/"));
  await eventually(() => raw.received().includes("connect.challenge"));
  const count = 50_000;

  raw.write(Buffer.concat(Array.from({ length: count }, (_, i) => ping(i))));

  const pongs = () => raw.received().split(pongHead).slice(1).map(Number);
  await eventually(() => pongs().at(-1) === count - 1);
  expect(pongs().length).toBeLessThan(count / 10);
});

test("every ping of a client that waits for its answer is answered", async () => {
  const socket = await connected(gateway);
  for (const data of ["a", "b", "c"]) {
    const pong = new Promise((resolve) => socket.ws.once("pong", (bytes: Buffer) => resolve(bytes.toString())));
    socket.ws.ping(data);
    expect(await pong).toBe(data);
  }
  await socket.close();
});

test("a client that asks on and reads no answers is not read on, and gets every answer once it reads", async () => {
  const socket = await connected(gateway);
  const word = "x".repeat(200_000);
  const count = 150;
  socket.ws.pause();
  for (let i = 0; i < count; i++) socket.send({ type: "req", id: `r${i}`, method: "leaky.ping", params: { word } });
  const other = await connected(gateway);
  for (let i = 0; i < 20; i++) await other.request(`${i}`, "health");
  expect(socket.ws.bufferedAmount).toBeGreaterThan(0);

  socket.ws.resume();

  await eventually(() => socket.frames.filter((f) => f.id?.startsWith("r")).length === count);
  expect(socket.frames.filter((f) => f.id?.startsWith("r") && f.ok)).toHaveLength(count);
  await Promise.all([socket.close(), other.close()]);
});
