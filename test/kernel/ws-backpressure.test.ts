import { definePlugin, z } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { fixture } from "./_fixtures.ts";
import { closeRawSockets, dial, upgradeRequest } from "./_raw.ts";
import { connected, connectParams } from "./_ws.ts";

const large = "x".repeat(400_000);
const asked: number[] = [];
let open: () => void;
const opened = new Promise<void>((resolve) => {
  open = resolve;
});
/** Instance ids of clients that have gone. */
const left: Array<string | undefined> = [];
const witness = definePlugin<unknown>({
  id: "witness",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    ctx.on("ws.disconnect", ({ client }) => void left.push(client.instanceId));
    const handler = async ({ word }: { word: string }) => {
      asked.push(word.length);
      await opened;
      return {};
    };
    ctx.registerRpc({ method: "witness.large", scope: "read", params: z.strictObject({}), handler: () => ({ text: large }) });
    ctx.registerRpc({ method: "witness.wait", scope: "read", params: z.strictObject({ word: z.string() }), handler });
  },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [fixture("leaky"), witness] });
});
afterAll(() => gateway.close());
afterEach(closeRawSockets);

/** A client frame with an empty mask. */
const frame = (opcode: number, payload: Buffer) =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
/** A text message in as many frames as it has characters. */
const splitMessage = (text: string) =>
  [...text].map((char, i) => {
    const bytes = frame(i === 0 ? 1 : 0, Buffer.from(char));
    if (i < text.length - 1) bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
    return bytes;
  });
const textFrame = (value: object) => {
  const payload = Buffer.from(JSON.stringify(value));
  if (payload.length < 126) return frame(1, payload);
  return Buffer.concat([Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]), payload]);
};
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

test("a message in pieces of a byte ends a connection that has not shaken hands, and none that has", async () => {
  const raw = await dial(gateway.gateway.port);
  raw.write(upgradeRequest("/"));
  await eventually(() => raw.received().includes("connect.challenge"));
  raw.write(Buffer.concat(splitMessage("x".repeat(1_000)).slice(0, -1)));
  await raw.ended;
  expect(raw.received()).toContain(String.fromCharCode(1_008 >> 8, 1_008 & 255));
  expect(raw.received()).not.toContain("handshake timeout");

  const socket = await connected(gateway);
  const request = JSON.stringify({ type: "req", id: "split", method: "health" });
  for (const [i, char] of [...request].entries()) socket.ws.send(char, { fin: i === request.length - 1 });
  expect((await socket.frame((f) => f.id === "split")).ok).toBe(true);
  await socket.close();
});

test("a client that ends its side without a close frame, and reads nothing of what waits for it, is gone in a moment", async () => {
  const raw = await dial(gateway.gateway.port);
  raw.write(upgradeRequest("/"));
  await eventually(() => raw.received().includes("connect.challenge"));
  const client = { id: "gateway-client", version: "1", platform: "x", mode: "backend", instanceId: "half-closed" };
  raw.write(textFrame({ type: "req", id: "c", method: "connect", params: connectParams(gateway.token, { client }) }));
  await eventually(() => raw.received().includes("hello-ok"));
  raw.socket.pause();
  raw.write(
    Buffer.concat(
      Array.from({ length: 60 }, (_, i) => textFrame({ type: "req", id: `request-${i}`, method: "witness.large", params: {} })),
    ),
  );

  raw.socket.end();

  await eventually(() => left.includes("half-closed"));
});

test("a client that sends large requests before the earlier ones have been served is not read on", async () => {
  const socket = await connected(gateway);
  const word = "x".repeat(1_000_000);
  for (let i = 0; i < 60; i++) socket.send({ type: "req", id: `r${i}`, method: "witness.wait", params: { word } });
  await eventually(() => asked.length > 0);
  const other = await connected(gateway);
  for (let i = 0; i < 20; i++) await other.request(`${i}`, "health");
  expect(asked.length).toBeLessThan(30);
  open();
  await eventually(() => asked.length === 60);
  await Promise.all([socket.close(), other.close()]);
});
