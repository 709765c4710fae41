import { afterEach, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/fakes/manual-clock.ts";
import { helloOk, type Script, type ScriptedGateway, startScriptedGateway } from "../../test/fakes/scripted-gateway.ts";
import { createClientCore } from "./core.ts";
import { openNodeSocket } from "./node-socket.ts";
import type { ClientOptions, ClientState, SvcClient } from "./types.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Real sockets under a clock that stands still; jitter is always half. */
async function setup(script: Script, options: Partial<ClientOptions> = {}) {
  const clock = createManualClock();
  const gw = await startScriptedGateway(script);
  const c = createClientCore(
    {
      openSocket: openNodeSocket,
      identity: { id: "test", version: "1", platform: "test", mode: "test" },
      now: clock.now,
      monotonic: clock.monotonic,
      setTimeout: clock.setTimeout,
      random: () => 0.5,
    },
    { url: gw.url, ...options },
  );
  cleanups.push(
    () => gw.close(),
    () => c.close(),
  );
  return { clock, gw, c } as { clock: ManualClock; gw: ScriptedGateway; c: SvcClient };
}

function next<S extends ClientState["state"]>(c: SvcClient, name: S): Promise<Extract<ClientState, { state: S }>> {
  return new Promise((resolve) => {
    const off = c.onState((state) => {
      if (state.state !== name) return;
      off();
      resolve(state as Extract<ClientState, { state: S }>);
    });
  });
}

it("waits 1 s doubling to 30 s between attempts, and a success starts the row anew", async () => {
  let answering = false;
  const { clock, c } = await setup({
    onConnect: (peer, id) => (answering ? peer.answer(id, helloOk()) : peer.close(1013, "gateway starting")),
  });
  const delays: number[] = [];
  let waiting = next(c, "waiting");
  const connected = c.connect();
  for (let i = 0; i < 7; i++) {
    const state = await waiting;
    expect(state.attempt).toBe(i + 1);
    delays.push(state.retryAtMs - clock.now());
    waiting = next(c, "waiting");
    if (i === 6) answering = true;
    clock.advance(state.retryAtMs - clock.now());
  }
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  await connected;
  answering = false;
  const lost = next(c, "waiting");
  clock.advance(60_000); // silence: the watchdog ends the connection
  expect((await lost).retryAtMs - clock.now()).toBe(500);
});

it("goes on with the row of waits when a connection lasted less than a minute", async () => {
  const { clock, gw, c } = await setup({
    onConnect: (peer, id, count) => (count === 2 ? peer.answer(id, helloOk()) : peer.close(1013, "")),
  });
  const first = next(c, "waiting");
  c.connect().catch(() => undefined);
  await first;
  const up = next(c, "connected");
  clock.advance(500);
  await up;
  const lost = next(c, "waiting");
  clock.advance(59_000);
  (await gw.peer(2)).close(1013, "");
  expect((await lost).attempt).toBe(2);
});

it("adds the wait a starting gateway asks for", async () => {
  const { clock, c } = await setup({
    onConnect: (peer, id) =>
      peer.fail(id, { code: "UNAVAILABLE", message: "gateway starting; retry shortly", retryable: true, retryAfterMs: 700 }),
  });
  const waiting = next(c, "waiting");
  c.connect().catch(() => undefined);
  const state = await waiting;
  expect(state.retryAtMs - clock.now()).toBe(700 + 500);
  expect(state.restarting).toBe(false);
});

it("waits for an announced restart first, and says that it is one", async () => {
  const { clock, gw, c } = await setup({});
  await c.connect();
  const peer = await gw.peer(1);
  const waiting = next(c, "waiting");
  peer.event("shutdown", { reason: "gateway restarting", restartExpectedMs: 1_500 }, { seq: 1 });
  peer.close(1012, "service restart");
  const state = await waiting;
  expect(state.restarting).toBe(true);
  expect(state.retryAtMs - clock.now()).toBe(1_500 + 2_500);
});

it("closes with 4000 after two ticks of silence, and not while anything is heard", async () => {
  const { clock, gw, c } = await setup({ onConnect: (peer, id) => peer.answer(id, helloOk({ tickIntervalMs: 1_000 })) });
  await c.connect();
  const peer = await gw.peer(1);
  clock.advance(1_500);
  const heard = new Promise<void>((resolve) => c.on("tick", () => resolve()));
  peer.event("tick", {}, { seq: 1 });
  await heard;
  clock.advance(1_999);
  expect(c.state.state).toBe("connected");
  const waiting = next(c, "waiting");
  clock.advance(1);
  expect((await waiting).error).toMatchObject({ code: "connection-closed", details: { closeCode: 4000, reason: "tick timeout" } });
  expect(await peer.closed).toEqual({ code: 4000, reason: "tick timeout" });
});

it("leaves no timer behind after close()", async () => {
  const { clock, c } = await setup({});
  await c.connect();
  const open = c.request("status", {}).catch(() => undefined);
  expect(clock.waiting).toHaveLength(2);
  await c.close();
  await open;
  expect(clock.waiting).toEqual([]);
});

it("close() while waiting ends the wait too", async () => {
  const { clock, c } = await setup({ onConnect: (peer) => peer.close(1013, "gateway starting") });
  const waiting = next(c, "waiting");
  const connecting = c.connect().catch((error: Error) => error.message);
  await waiting;
  await c.close();
  expect(clock.waiting).toEqual([]);
  expect(await connecting).toBe("the connection was closed by this client");
});

it("asks for fresh state once more, not many times, when gaps open during a refresh", async () => {
  const held: Array<() => void> = [];
  const { gw, c } = await setup({ onRequest: (peer, frame) => held.push(() => peer.answer(frame.id, {})) });
  await c.connect();
  const gaps: string[] = [];
  c.onGap((gap) => gaps.push(gap.cause));
  const peer = await gw.peer(1);
  const heard = new Promise<void>((resolve) => c.on("tick", (_, frame) => frame.seq === 9 && resolve()));
  for (const seq of [2, 4, 6, 9]) peer.event("tick", {}, { seq });
  await heard;
  await expect.poll(() => held.length).toBe(2);
  for (const answer of held.splice(0)) answer();
  await expect.poll(() => held.length).toBe(2);
  for (const answer of held.splice(0)) answer();
  await expect.poll(() => gaps).toEqual(["gap", "gap"]);
  expect(peer.requests).toHaveLength(4);
});

it("goes on with the protocol when a listener throws, and lets the fault surface", async () => {
  const { clock, gw, c } = await setup({});
  await c.connect();
  const peer = await gw.peer(1);
  c.on("tick", () => {
    throw new Error("listener broke");
  });
  const heard = new Promise<void>((resolve) => c.on("tick", () => resolve()));
  peer.event("tick", {}, { seq: 1 });
  await heard;
  expect(c.state.state).toBe("connected");
  expect(() => clock.advance(0)).toThrow("listener broke");
});
