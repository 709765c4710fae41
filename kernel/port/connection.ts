import type { IncomingMessage } from "node:http";
import type { RawData, WebSocket } from "ws";
import { isSvcError, SvcError } from "../../sdk/errors.ts";
import { formatIssues } from "../../sdk/json-schema.ts";
import { exceedsJsonShape } from "../../sdk/json-shape.ts";
import { limits, type RequestFrame, requestFrame, type WireError } from "../../sdk/protocol/frames.ts";
import type { Disposable, Logger } from "../../sdk/types/common.ts";
import type { ClientInfo, RpcCall } from "../../sdk/types/rpc.ts";
import type { Fanout, Receiver } from "./events.ts";
import { type MethodRegistry, RawJson, toWireError } from "./methods.ts";
import type { Phase } from "./probes.ts";

export interface ConnectionDeps {
  methods: MethodRegistry;
  fanout: Fanout;
  logger: Logger;
  phase(): Phase;
  handshakeTimeoutMs: number;
  /** Decides about `connect`; the hello is the payload of its `res`. */
  admit(params: unknown, req: IncomingMessage): Promise<{ info: ClientInfo; hello: unknown; revoked: AbortSignal }>;
  /** After hello-ok was sent. */
  joined(info: ClientInfo): void;
  left(info: ClientInfo, code: number, reason: string): void;
}

/** One socket: challenge, handshake, then frames until it closes. */
export class Connection implements Receiver {
  readonly topics = new Set<string>();
  readonly #ws: WebSocket;
  readonly #req: IncomingMessage;
  readonly #deps: ConnectionDeps;
  readonly #gone = new AbortController();
  #info: ClientInfo | undefined;
  #admitting = false;
  #line: { remove(): void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ping: NodeJS.Timeout | undefined;
  #pongDue = false;
  #badFrames: number[] = [];
  #inFlight = 0;
  #queued: RequestFrame[] = [];

  constructor(ws: WebSocket, req: IncomingMessage, deps: ConnectionDeps, nonce: string) {
    this.#ws = ws;
    this.#req = req;
    this.#deps = deps;
    ws.on("message", (data, isBinary) => this.#receive(data, isBinary));
    ws.on("close", (code, reason) => this.#closed(code, reason.toString()));
    // ws reports oversized and malformed frames here and closes with the right code itself.
    ws.on("error", () => undefined);
    ws.on("pong", () => {
      this.#pongDue = false;
    });
    this.#timer = setTimeout(() => this.cut(1008, "handshake timeout"), deps.handshakeTimeoutMs);
    this.#send(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce, ts: Date.now() } }));
  }

  get info(): ClientInfo {
    return this.#info as ClientInfo;
  }

  get established(): boolean {
    return this.#info !== undefined;
  }

  buffered(): number {
    return this.#ws.bufferedAmount;
  }

  send(frame: string): void {
    this.#send(frame);
  }

  /** Closes with a code and takes nothing in any more; ws destroys the socket of a peer that does not answer the close frame. */
  cut(code: number, reason: string): void {
    this.#queued = [];
    if (this.#ws.readyState < this.#ws.CLOSING) this.#ws.close(code, truncate(reason));
  }

  terminate(): void {
    this.#ws.terminate();
  }

  #send(frame: string): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.send(frame);
  }

  #receive(data: RawData, isBinary: boolean): void {
    // Whatever follows our close frame, or a first frame that is still being judged or was refused, is not looked at.
    if (this.#ws.readyState !== this.#ws.OPEN || (this.#admitting && !this.#info)) return;
    if (isBinary) return this.cut(1003, "");
    if (this.buffered() > limits.maxBufferedBytes) return this.cut(1008, "slow consumer"); // it asks on and reads no answers
    const frame = parseFrame(data.toString());
    if (!this.#info) return this.#beforeHello(frame);
    if (frame instanceof SvcError) return this.#badFrame(frame);
    if (frame.method === "connect") return this.#respond(frame.id, new SvcError("already-connected"));
    this.#accept(frame);
  }

  #beforeHello(frame: RequestFrame | SvcError): void {
    this.#admitting = true;
    if (frame instanceof SvcError) return this.cut(1008, "invalid request frame");
    if (frame.method !== "connect") return this.#refuse(frame.id, new SvcError("first-not-connect"));
    if (this.#deps.phase() === "starting" || this.#deps.phase() === "plugins") {
      const error = new SvcError("gateway-starting", { reason: "startup-sidecars" }, { retryAfterMs: 500 });
      return this.#refuse(frame.id, error, { code: 1013, reason: "gateway starting" });
    }
    if (this.#deps.phase() !== "ready") {
      return this.#refuse(frame.id, new SvcError("draining", {}, { retryAfterMs: 1_000 }), { code: 1001, reason: "gateway stopping" });
    }
    void this.#handshake(frame);
  }

  async #handshake(frame: RequestFrame): Promise<void> {
    try {
      const { info, hello, revoked } = await this.#deps.admit(frame.params, this.#req);
      if (revoked.aborted) this.#revoke();
      if (this.#ws.readyState !== this.#ws.OPEN) return this.#deps.left(info, 1006, "");
      revoked.addEventListener("abort", () => this.#revoke(), { signal: this.#gone.signal });
      clearTimeout(this.#timer);
      raisePayloadLimit(this.#ws);
      this.#info = info;
      this.#respond(frame.id, undefined, hello);
      this.#line = this.#deps.fanout.add(this);
      this.#ping = setInterval(() => this.#beat(), limits.pingIntervalMs);
      this.#deps.joined(info);
    } catch (error) {
      if (isSvcError(error)) return this.#refuse(frame.id, error);
      this.#deps.logger.error("a handshake failed", { error });
      this.cut(1011, "internal error");
    }
  }

  #revoke(): void {
    this.cut(4001, "gateway auth changed");
  }

  #refuse(id: string, error: SvcError, close?: { code: number; reason: string }): void {
    const wire = toWireError(error);
    this.#send(JSON.stringify({ type: "res", id, ok: false, error: wire }));
    this.cut(close?.code ?? (error.code === "protocol-mismatch" ? 1002 : 1008), close?.reason ?? wire.message);
  }

  #badFrame(error: SvcError): void {
    const now = performance.now();
    this.#badFrames = [...this.#badFrames.filter((t) => t > now - limits.badFrameWindowMs), now];
    this.#respond(String(error.fields.id ?? "invalid"), error);
    if (this.#badFrames.length >= limits.maxBadFrames) this.cut(1008, "too many invalid frames");
  }

  #accept(frame: RequestFrame): void {
    if (this.#inFlight < limits.maxInFlightPerConnection) {
      this.#inFlight += 1;
      void this.#serve(frame);
    } else if (this.#queued.length < limits.maxQueued) this.#queued.push(frame);
    else this.#respond(frame.id, new SvcError("busy", {}, { retryAfterMs: 1_000 }));
  }

  async #serve(frame: RequestFrame): Promise<void> {
    let place: Disposable | undefined;
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      void place?.dispose();
      this.#inFlight -= 1;
      const next = this.#queued.shift();
      if (next) this.#accept(next);
    };
    try {
      place = await this.#deps.methods.admit();
      this.#gone.signal.throwIfAborted();
      const result = await this.#deps.methods.call(frame.method, frame.params, this.#call(frame, leave));
      this.#respond(frame.id, undefined, result);
    } catch (error) {
      this.#respond(frame.id, error ?? new SvcError("failed", { message: "the method failed" }));
    } finally {
      leave();
    }
  }

  #call(frame: RequestFrame, leave: () => void): RpcCall {
    return {
      client: this.info,
      signal: this.#gone.signal,
      accept: (payload) => {
        this.#respond(frame.id, undefined, payload);
        leave();
      },
      subscribe: (topic) => {
        if (this.#info) this.topics.add(topic);
        return { dispose: () => void this.topics.delete(topic) };
      },
      unsubscribe: (topic) => void this.topics.delete(topic),
    };
  }

  #respond(id: string, error?: unknown, payload?: unknown): void {
    const head = `{"type":"res","id":${JSON.stringify(id)}`;
    if (error !== undefined) {
      const wire: WireError = toWireError(error);
      const extra = isSvcError(error) && error.payload !== undefined ? `,"payload":${JSON.stringify(error.payload)}` : "";
      return this.#send(`${head},"ok":false${extra},"error":${JSON.stringify(wire)}}`);
    }
    const body = payload instanceof RawJson ? payload.text : JSON.stringify(payload ?? {});
    this.#send(`${head},"ok":true,"payload":${body}}`);
  }

  #beat(): void {
    if (this.#pongDue) return this.terminate();
    this.#pongDue = true;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  #closed(code: number, reason: string): void {
    clearTimeout(this.#timer);
    clearInterval(this.#ping);
    this.#line?.remove();
    this.topics.clear();
    this.#queued = [];
    this.#gone.abort(new SvcError("connection-closed", { code, reason }));
    if (this.#info) this.#deps.left(this.#info, code, reason);
  }
}

function parseFrame(text: string): RequestFrame | SvcError {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return new SvcError("invalid-frame", { reason: "not JSON" });
  }
  const id = (value as { id?: unknown } | null)?.id;
  const invalid = (reason: string) => new SvcError("invalid-frame", { reason, ...(typeof id === "string" && id ? { id } : {}) });
  if (exceedsJsonShape(value)) return invalid("deeper than 64 levels or more than 10000 keys");
  const parsed = requestFrame.safeParse(value);
  return parsed.success ? parsed.data : invalid(formatIssues(parsed.error.issues));
}

/** A close reason is at most 123 bytes. */
function truncate(reason: string): string {
  return Buffer.from(reason)
    .subarray(0, 123)
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
}

/** ws 8 has one limit per server; its receiver reads the field for each frame (test/kernel/protocol pins this). */
function raisePayloadLimit(ws: WebSocket): void {
  const receiver = (ws as unknown as { _receiver?: { _maxPayload: number } })._receiver;
  if (receiver) receiver._maxPayload = limits.maxPayload;
}
