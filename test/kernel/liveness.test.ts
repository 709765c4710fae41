import { once } from "node:events";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fixture } from "./_fixtures.ts";
import { type BareSocket, challenged, connected, connectParams } from "./_ws.ts";

const time = { passed: 0 };
const clock = { now: () => Date.now(), monotonic: () => time.passed };
/** Moves the gateway's clock and its intervals on; everything else goes on in real time. */
function pass(ms: number): void {
  time.passed += ms;
  vi.advanceTimersByTime(ms);
}

let gateway: TestGateway;
beforeEach(async () => {
  time.passed = 0;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  gateway = await createTestGateway({ plugins: [fixture("leaky")], clock });
});
afterEach(async () => {
  vi.useRealTimers();
  await gateway.close();
});

/** A client that never answers a ping. */
async function mute(change: Record<string, unknown> = {}): Promise<BareSocket> {
  const socket = await challenged(gateway, {}, { autoPong: false });
  await socket.request("1", "connect", connectParams(gateway.token, change));
  return socket;
}

test("every connection hears a tick every 30 s, whatever it may see", async () => {
  const alive = await connected(gateway, { scopes: [] });
  pass(30_000);
  const tick = await alive.frame((f) => f.event === "tick");
  expect(tick.payload).toEqual({ ts: expect.any(Number) });
  await alive.close();
});

test("who answers no ping is cut 25 s after it was written, and its presence goes", async () => {
  const watcher = await connected(gateway);
  const client = { id: "test", version: "1", platform: "x", mode: "test", displayName: "ghost" };
  const dead = await mute({ client });
  const hosts = async () => (await watcher.request(String(Math.random()), "system-presence")).payload.map((e: { host: string }) => e.host);
  expect(await hosts()).toContain("ghost");
  const pinged = once(dead.ws, "ping");
  pass(25_000);
  await pinged;
  await watcher.request("1", "health"); // its pong has arrived before this
  pass(24_000);
  await watcher.request("2", "health");
  expect(dead.closed).toBeUndefined();

  pass(1_000);

  expect((await dead.end()).code).toBe(1006);
  await eventually(async () => !(await hosts()).includes("ghost"));
  await watcher.close();
});

test("who answers its pings stays", async () => {
  const alive = await connected(gateway);
  for (let i = 0; i < 5; i++) {
    const pinged = once(alive.ws, "ping");
    pass(25_000);
    await pinged;
    await alive.request(String(i), "health");
  }
  expect(alive.closed).toBeUndefined();
  await alive.close();
});

test("a client that reads nothing more is cut after 30 s above 1 MiB", async () => {
  const [slow, fast] = [await connected(gateway), await connected(gateway)];
  await slow.request("1", "leaky.ping", {});
  slow.ws.pause();
  // More than the system itself takes for a reader that stands still.
  for (let i = 0; i < 5; i++) await fast.request(`f${i}`, "leaky.ping", { word: "x".repeat(4_000_000) });
  for (let s = 0; s < 7; s++) {
    await fast.request(`t${s}`, "health");
    pass(5_000);
  }
  await fast.request("over", "health");
  slow.ws.resume();
  expect([1006, 1008]).toContain((await slow.end()).code);
  expect(fast.closed).toBeUndefined();
  await fast.close();
});
