import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { helloOk, type Script, type ScriptedGateway, startScriptedGateway } from "../../test/fakes/scripted-gateway.ts";
import { ClientError, type ClientOptions, type ClientState, createClient, MAX_PENDING, type SvcClient } from "./index.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gateway(script: Script = {}): Promise<ScriptedGateway> {
  const started = await startScriptedGateway(script);
  cleanups.push(() => started.close());
  return started;
}

function client(url: string, options: Partial<ClientOptions> = {}): SvcClient {
  const made = createClient({ url, ...options });
  cleanups.push(() => made.close());
  return made;
}

/** The next state of that name; the present one counts. */
function reached<S extends ClientState["state"]>(of: SvcClient, name: S): Promise<Extract<ClientState, { state: S }>> {
  return new Promise((resolve) => {
    const check = (state: ClientState) => {
      if (state.state !== name) return;
      off();
      resolve(state as Extract<ClientState, { state: S }>);
    };
    const off = of.onState(check);
    check(of.state);
  });
}

const failure = (promise: Promise<unknown>): Promise<ClientError> =>
  promise.then(
    () => expect.fail("expected a rejection"),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ClientError);
      return error as ClientError;
    },
  );

describe("handshake", () => {
  it("waits for the challenge, connects with identity, scopes and secret, and hands out hello-ok", async () => {
    const gw = await gateway();
    const c = client(gw.url, { auth: { token: "s3cret-token" }, caps: ["tool-events"], client: { displayName: "test" } });
    expect(c.state).toEqual({ state: "closed" });
    const hello = await c.connect();
    expect(hello.server.bootId).toBe("boot-1");
    expect(c.hello).toBe(hello);
    expect(gw.peers[0]?.connect).toEqual({
      minProtocol: 4,
      maxProtocol: 4,
      client: { id: "gateway-client", version: "1.0.0", platform: process.platform, mode: "backend", displayName: "test" },
      role: "operator",
      scopes: ["operator.read", "operator.write"],
      caps: ["tool-events"],
      auth: { token: "s3cret-token" },
    });
  });

  it("is refused with the wire error and does not try again", async () => {
    const error = {
      code: "INVALID_REQUEST",
      message: "unauthorized: gateway token mismatch (provide gateway auth token)",
      details: { code: "AUTH_TOKEN_MISMATCH", authReason: "token_mismatch" },
    };
    const gw = await gateway({
      onConnect: (peer, id) => {
        peer.fail(id, error);
        peer.close(1008, error.message);
      },
    });
    const c = client(gw.url, { auth: { token: "wrong" } });
    const refused = await failure(c.connect());
    expect(refused).toMatchObject({
      code: "INVALID_REQUEST",
      message: error.message,
      details: error.details,
      detailCode: "AUTH_TOKEN_MISMATCH",
    });
    expect(c.state).toEqual({ state: "refused", error: refused });
    expect(gw.peers).toHaveLength(1);
  });

  it("asks the credentials function again after a refusal and tries a changed answer at once", async () => {
    const gw = await gateway({
      onConnect: (peer, id, count) =>
        count === 1 ? peer.fail(id, { code: "INVALID_REQUEST", message: "no" }) : peer.answer(id, helloOk()),
    });
    const tokens = ["old", "new"];
    const c = client(gw.url, { auth: () => ({ token: tokens.length > 1 ? (tokens.shift() as string) : (tokens[0] as string) }) });
    await c.connect();
    expect(gw.peers.map((p) => (p.connect.auth as { token: string }).token)).toEqual(["old", "new"]);
  });

  it("stays refused when the credentials function has nothing new", async () => {
    const gw = await gateway({ onConnect: (peer, id) => peer.fail(id, { code: "INVALID_REQUEST", message: "no" }) });
    const c = client(gw.url, { auth: () => ({ token: "same" }) });
    await failure(c.connect());
    expect(c.state.state).toBe("refused");
    expect(gw.peers).toHaveLength(1);
  });

  it.each([
    ["an HTTP server without WebSocket", () => createServer((_, res) => res.writeHead(404).end())],
    ["a server that speaks something else", () => createTcpServer((socket) => socket.resume().end("220 mail ready\r\n"))],
  ])("says that %s is not a gateway", async (_, create) => {
    const server = create();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const error = await failure(client(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { reconnect: false }).connect());
    expect(error).toMatchObject({ code: "gateway-unreachable", details: { reason: "not-a-gateway" } });
  });

  it.each([{ hello: "there" }, { type: "event", event: "tick" }])(
    "says that a server that begins with %j is not a gateway",
    async (first) => {
      const gw = await gateway({ first });
      const error = await failure(client(gw.url, { reconnect: false }).connect());
      expect(error).toMatchObject({ code: "gateway-unreachable", details: { reason: "not-a-gateway" } });
    },
  );

  it("gives up on a server that accepts and stays silent", async () => {
    const gw = await gateway({ first: null });
    const error = await failure(client(gw.url, { reconnect: false, handshakeTimeoutMs: 50 }).connect());
    expect(error).toMatchObject({ code: "gateway-unreachable", details: { reason: "timeout" } });
  });

  it("reports a refused port and a bad URL without reconnecting when told so", async () => {
    const gw = await startScriptedGateway();
    await gw.close();
    const c = client(gw.url, { reconnect: false });
    expect(await failure(c.connect())).toMatchObject({ code: "gateway-unreachable", details: { reason: "refused" } });
    expect(c.state).toMatchObject({ state: "closed", error: { code: "gateway-unreachable" } });
    expect(await failure(client("not a url", { reconnect: false }).connect())).toMatchObject({ code: "gateway-unreachable" });
  });
});

describe("requests", () => {
  it("match answers by id, in whatever order they come", async () => {
    const held: Array<() => void> = [];
    const gw = await gateway({
      onRequest: (peer, frame) => {
        held.unshift(() => peer.answer(frame.id, { echo: frame.params }));
        if (held.length === 3) for (const answer of held) answer();
      },
    });
    const c = client(gw.url);
    await c.connect();
    const answers = await Promise.all([1, 2, 3].map((n) => c.request("plugin.echo", { n })));
    expect(answers).toEqual([{ echo: { n: 1 } }, { echo: { n: 2 } }, { echo: { n: 3 } }]);
  });

  it("reject with code, details, retry time and payload of the failed answer", async () => {
    const gw = await gateway({
      onRequest: (peer, frame) =>
        peer.fail(
          frame.id,
          { code: "UNAVAILABLE", message: "model down", details: { code: "TIMEOUT" }, retryable: true, retryAfterMs: 500 },
          { runId: "k", status: "error", summary: "model down" },
        ),
    });
    const c = client(gw.url);
    await c.connect();
    expect(await failure(c.request("agent.wait", { runId: "k" }))).toMatchObject({
      code: "UNAVAILABLE",
      message: "model down",
      details: { code: "TIMEOUT" },
      retryable: true,
      retryAfterMs: 500,
      payload: { runId: "k", status: "error", summary: "model down" },
    });
  });

  it("wait through `accepted` for the final answer when told so, beyond the first limit", async () => {
    const gw = await gateway({
      onRequest: (peer, frame) => peer.answer(frame.id, { runId: "r", status: "accepted" }),
    });
    const c = client(gw.url);
    await c.connect();
    const accepted = await new Promise((resolve) => {
      const final = c.request("agent", { message: "hi", idempotencyKey: "r" }, { onAccepted: (payload) => resolve({ payload, final }) });
    });
    const { payload, final } = accepted as { payload: unknown; final: Promise<unknown> };
    expect(payload).toEqual({ runId: "r", status: "accepted" });
    const peer = await gw.peer(1);
    peer.answer(peer.requests[0]?.id, { runId: "r", status: "ok" });
    expect(await final).toEqual({ runId: "r", status: "ok" });
  });

  it("take `accepted` as the answer otherwise, and ignore the second one", async () => {
    const gw = await gateway({
      onRequest: (peer, frame) => {
        peer.answer(frame.id, { status: "accepted" });
        peer.answer(frame.id, { status: "ok" });
      },
    });
    const c = client(gw.url);
    await c.connect();
    expect(await c.request("agent", { message: "hi", idempotencyKey: "r" })).toEqual({ status: "accepted" });
    expect(await c.request("agent", { message: "hi", idempotencyKey: "r" })).toEqual({ status: "accepted" });
  });

  it("end by their limit or their signal while the connection goes on", async () => {
    const gw = await gateway({ onRequest: (peer, frame) => frame.method === "health" && peer.answer(frame.id, { ok: true }) });
    const c = client(gw.url);
    await c.connect();
    expect(await failure(c.request("status", {}, { timeoutMs: 20 }))).toMatchObject({ code: "request-timed-out" });
    const abort = new AbortController();
    const waiting = failure(c.request("status", {}, { signal: abort.signal }));
    abort.abort();
    expect(await waiting).toMatchObject({ code: "aborted" });
    expect(await failure(c.request("status", {}, { signal: abort.signal }))).toMatchObject({ code: "aborted" });
    expect(await c.request("health", {})).toEqual({ ok: true });
  });

  it("are refused over 1,000 open ones, and all reject when the connection goes", async () => {
    const gw = await gateway();
    const c = client(gw.url, { reconnect: false });
    await c.connect();
    const open = Array.from({ length: MAX_PENDING }, () => failure(c.request("status", {})));
    expect(await failure(c.request("status", {}))).toMatchObject({ code: "too-many-pending" });
    gw.peers[0]?.close(1001, "gateway stopping");
    for (const error of await Promise.all(open)) expect(error).toMatchObject({ code: "connection-closed", details: { closeCode: 1001 } });
    expect(await failure(c.request("status", {}))).toMatchObject({ code: "connection-closed" });
  });

  it("reject on close(), which also settles a pending connect()", async () => {
    const gw = await gateway({ onConnect: () => undefined });
    const c = client(gw.url);
    const connecting = failure(c.connect());
    await gw.peer(1);
    await c.close();
    expect(await connecting).toMatchObject({ code: "connection-closed" });
    expect(c.state).toEqual({ state: "closed" });
    expect(await (await gw.peer(1)).closed).toMatchObject({ code: 1000 });
  });
});

describe("events", () => {
  it("reach listeners by name and `*`, until they stop listening", async () => {
    const gw = await gateway();
    const c = client(gw.url);
    await c.connect();
    const seen: unknown[] = [];
    const off = c.on("plugin.acme.said", (payload, frame) => seen.push(["said", payload.n, frame.seq]));
    const all = new Promise((resolve) => c.on("*", (payload, frame) => frame.event === "end" && resolve(payload)));
    const peer = await gw.peer(1);
    const stopped = new Promise<void>((resolve) =>
      c.on("stop", () => {
        off();
        resolve();
      }),
    );
    peer.event("plugin.acme.said", { n: 1 }, { seq: 1 });
    peer.event("stop", {}, { seq: 2 });
    await stopped;
    peer.event("plugin.acme.said", { n: 2 }, { seq: 3 });
    peer.event("end", { last: true }, { seq: 4 });
    expect(await all).toEqual({ last: true });
    expect(seen).toEqual([["said", 1, 1]]);
  });

  it("that were lost lead to fresh health and presence, then to onGap", async () => {
    const gw = await gateway({ onRequest: (peer, frame) => peer.answer(frame.id, { method: frame.method }) });
    const c = client(gw.url);
    await c.connect();
    const gap = new Promise((resolve) => c.onGap(resolve));
    const peer = await gw.peer(1);
    peer.event("tick", { ts: 1 }, { seq: 1 });
    peer.event("tick", { ts: 2 }, { seq: 3 });
    expect(await gap).toEqual({ cause: "gap", health: { method: "health" }, presence: { method: "system-presence" } });
    expect(peer.requests.map((r) => r.method)).toEqual(["health", "system-presence"]);
  });

  it("with an older state version than the snapshot are left out", async () => {
    const gw = await gateway({ onConnect: (peer, id) => peer.answer(id, helloOk({ stateVersion: { presence: 3, health: 7 } })) });
    const c = client(gw.url);
    await c.connect();
    const seen: unknown[] = [];
    c.on("health", (payload) => seen.push(payload.n));
    const last = new Promise<void>((resolve) => c.on("tick", () => resolve()));
    const peer = await gw.peer(1);
    peer.event("health", { n: "old" }, { seq: 1, stateVersion: { presence: 3, health: 6 } });
    peer.event("health", { n: "new" }, { seq: 2, stateVersion: { presence: 3, health: 8 } });
    peer.event("tick", {}, { seq: 3 });
    await last;
    expect(seen).toEqual(["new"]);
  });
});

describe("reconnect", () => {
  it("comes back after a loss and refreshes before onGap hears of it", async () => {
    const gw = await gateway({ onRequest: (peer, frame) => peer.answer(frame.id, { method: frame.method }) });
    const c = client(gw.url);
    await c.connect();
    const gap = new Promise((resolve) => c.onGap(resolve));
    (await gw.peer(1)).close(1012, "service restart");
    const waiting = await reached(c, "waiting");
    expect(waiting).toMatchObject({ restarting: false, error: { code: "connection-closed", details: { closeCode: 1012 } } });
    await c.connect(); // at once instead of after the backoff
    expect(await gap).toEqual({ cause: "reconnect", health: { method: "health" }, presence: { method: "system-presence" } });
    expect(gw.peers).toHaveLength(2);
  });

  it.each([
    [1008, "slow consumer"],
    [4001, "gateway auth changed"],
  ])("does not follow a close with %i unless told", async (code, reason) => {
    const gw = await gateway();
    const c = client(gw.url);
    await c.connect();
    (await gw.peer(1)).close(code, reason);
    const refused = await reached(c, "refused");
    expect(refused.error).toMatchObject({ code: "connection-closed", details: { closeCode: code, reason } });

    const stubborn = client(gw.url, { retryRefused: () => true });
    await stubborn.connect();
    (await gw.peer(2)).close(code, reason);
    await reached(stubborn, "waiting");
  });
});
