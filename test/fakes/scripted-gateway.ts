import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

type Json = Record<string, unknown>;

/** Actions of the script on one connection. */
export interface ScriptedPeer {
  /** Frames of the client after `connect`, in order. */
  readonly requests: Json[];
  /** Params of the client's `connect`. */
  readonly connect: Json;
  send(frame: Json): void;
  event(event: string, payload: Json, extra?: Json): void;
  answer(id: unknown, payload: unknown): void;
  fail(id: unknown, error: Json, payload?: unknown): void;
  close(code: number, reason: string): void;
  readonly socket: WebSocket;
  /** Code and reason the client closed with. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

export interface Script {
  /** Sent instead of the challenge; `null` = stay silent. */
  first?: Json | null;
  /** Answers `connect`; default `hello-ok`. */
  onConnect?(peer: ScriptedPeer, id: string, count: number): void;
  /** Answers everything else. */
  onRequest?(peer: ScriptedPeer, frame: { id: string; method: string; params: Json }): void;
}

export interface ScriptedGateway {
  readonly url: string;
  readonly peers: ScriptedPeer[];
  /** Resolves when the n-th connection (from 1) has sent `connect`. */
  peer(n: number): Promise<ScriptedPeer>;
  close(): Promise<void>;
}

/** `hello-ok` as section 3.4 of the protocol shows it. */
export function helloOk(over: { bootId?: string; tickIntervalMs?: number; stateVersion?: Json } = {}): Json {
  return {
    type: "hello-ok",
    protocol: 4,
    server: { version: "0.0.0", connId: "c", bootId: over.bootId ?? "boot-1" },
    features: { methods: ["health"], events: ["tick"], capabilities: [] },
    snapshot: { presence: [], health: { ok: true }, stateVersion: over.stateVersion ?? { presence: 1, health: 1 }, uptimeMs: 1 },
    auth: { role: "operator", scopes: ["operator.read", "operator.write"] },
    policy: {
      maxPayload: 26_214_400,
      maxBufferedBytes: 52_428_800,
      tickIntervalMs: over.tickIntervalMs ?? 30_000,
      attachments: { maxBytes: 1, maxImageBytes: 1 },
    },
    limits: { maxPreauthPayload: 65_536, handshakeTimeoutMs: 15_000, idempotencyTtlMs: 300_000, idempotencyMax: 1_000 },
  };
}

/** A loopback server that speaks the frames of the control protocol and otherwise does what the test says. */
export async function startScriptedGateway(script: Script = {}): Promise<ScriptedGateway> {
  const http: Server = createServer();
  const wss = new WebSocketServer({ server: http });
  const peers: ScriptedPeer[] = [];
  const arrivals = new Map<number, (peer: ScriptedPeer) => void>();
  wss.on("connection", (socket) => {
    greet(socket, script);
    const peer = createPeer(socket);
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString()) as { id: string; method: string; params: Json };
      if (frame.method !== "connect") {
        peer.requests.push(frame as unknown as Json);
        script.onRequest?.(peer, frame);
        return;
      }
      (peer as { connect: Json }).connect = frame.params;
      peers.push(peer);
      if (script.onConnect) script.onConnect(peer, frame.id, peers.length);
      else peer.answer(frame.id, helloOk());
      arrivals.get(peers.length)?.(peer);
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`,
    peers,
    peer: (n) => {
      const known = peers[n - 1];
      return known ? Promise.resolve(known) : new Promise((resolve) => arrivals.set(n, resolve));
    },
    async close() {
      for (const client of wss.clients) client.terminate();
      wss.close();
      http.close();
      await once(http, "close");
    },
  };
}

function greet(socket: WebSocket, script: Script): void {
  const first = script.first === undefined ? challenge : script.first;
  if (first) socket.send(JSON.stringify(first));
}

const challenge = {
  type: "event",
  event: "connect.challenge",
  payload: { nonce: "0f6d1c1e-1111-4222-8333-444455556666", ts: 1767225600000 },
};

function createPeer(socket: WebSocket): ScriptedPeer {
  const send = (frame: Json) => socket.send(JSON.stringify(frame));
  return {
    requests: [],
    connect: {},
    socket,
    send,
    event: (event, payload, extra = {}) => send({ type: "event", event, payload, ...extra }),
    answer: (id, payload) => send({ type: "res", id, ok: true, payload }),
    fail: (id, error, payload) => send({ type: "res", id, ok: false, error, ...(payload === undefined ? {} : { payload }) }),
    close: (code, reason) => socket.close(code, reason),
    closed: once(socket, "close").then(([code, reason]) => ({ code: code as number, reason: String(reason) })),
  };
}
