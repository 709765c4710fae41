import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { commonErrors, isSvcError, SvcError } from "../../sdk/errors.ts";
import { sharedErrors } from "../../sdk/internal/errors.ts";
import { RawJson } from "../../sdk/internal/raw-json.ts";
import { limits, type RequestFrame } from "../../sdk/protocol/frames.ts";
import type { Disposable, LogFields, Logger } from "../../sdk/types/common.ts";
import type { ClientInfo, RpcCall } from "../../sdk/types/rpc.ts";
import { followGrants, type Grant } from "../auth/grants.ts";
import type { Revocations } from "../auth/revocations.ts";
import { protocolErrors } from "../errors.ts";
import { validTraceparent } from "../operations/traceparent.ts";
import { createBadFrames } from "./fanout/bad-frames.ts";
import type { Fanout, Subscriber, Subscription } from "./fanout/fanout.ts";
import { createLiveness, type Liveness } from "./fanout/liveness.ts";
import { createRequestLane, type RequestLane } from "./fanout/request-lane.ts";
import { sentBytes } from "./fanout/sent-bytes.ts";
import type { WriteBatcher } from "./fanout/write-batcher.ts";
import { closeReason, formatAnswer, formatRefusal, parseRequest, refusalClose, tracedFrame } from "./frame-text.ts";
import { type MethodRegistry, toWireError } from "./methods/registry.ts";
import { isServing, type Phase } from "./probes.ts";

export interface ConnectionDeps {
  methods: MethodRegistry;
  fanout: Fanout;
  logger: Logger;
  phase(): Phase;
  monotonic(): number;
  handshakeTimeoutMs: number;
  /** Decides about `connect`; the hello is the payload of its `res`. */
  admit(params: unknown, req: IncomingMessage, nonce: string): Promise<{ info: ClientInfo; hello: unknown; rights: Grant[] }>;
  /** After hello-ok was sent. */
  joined(info: ClientInfo): void;
  left(info: ClientInfo, code: number, reason: string): void;
}

/** Parts of the gateway that one connection uses. */
export interface ConnectionSite {
  ws: WebSocket;
  /** Below `ws`. */
  socket: Duplex;
  turn: WriteBatcher;
  revocations: Revocations;
  /** Called when the handshake is done. */
  settled(): void;
}

/** Characters of requests under way on one connection, above which no more is read: the lane below counts requests, and each may have 25 MiB. */
const MAX_CHARS_UNDER_WAY = limits.stallBytes;

/** A request and what it takes until it has been served. */
interface Asked {
  frame: RequestFrame;
  chars: number;
}

const lanes = { maxActive: limits.maxInFlightPerConnection, maxWaiting: limits.maxQueued };
const badFrames = { max: limits.maxBadFrames, windowMs: limits.badFrameWindowMs };

/** One socket: challenge, handshake, then frames until it closes. */
export class Connection implements Subscriber {
  readonly #site: ConnectionSite;
  readonly #deps: ConnectionDeps;
  /** Nonce of the challenge: a device's signature is valid for this socket only. */
  readonly #nonce = randomUUID();
  /** Aborted when the socket is gone; made for the first who asks, as most connections only listen. */
  #gone: AbortController | undefined;
  readonly #liveness: Liveness;
  readonly #lane: RequestLane<Asked>;
  #charsUnderWay = 0;
  /** Answers wait for the client to read. */
  #isDraining = false;
  /** Tells of a frame that could not be read; was it one too many? */
  #isTooBad: (() => boolean) | undefined;
  /** Until it has shaken hands. */
  #req: IncomingMessage | undefined;
  #info: ClientInfo | undefined;
  /** Frames that came while the first one is judged; undefined before and after. */
  #held: Array<[RawData, boolean]> | undefined;
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;

  constructor(req: IncomingMessage, site: ConnectionSite, deps: ConnectionDeps) {
    const { ws } = site;
    this.#req = req;
    this.#site = site;
    this.#deps = deps;
    this.#liveness = createLiveness(limits.pingIntervalMs, deps.monotonic, () => this.progress());
    this.#lane = createRequestLane<Asked>(lanes, (asked, leave) => void this.#serve(asked, leave));
    ws.on("message", (data, isBinary) => this.#receive(data, isBinary));
    ws.on("close", (code, reason) => this.#closed(code, reason.toString()));
    // ws reports oversized and malformed frames here and closes with the right code itself.
    ws.on("error", () => undefined);
    ws.on("pong", this.#liveness.pong);
    ws.on("ping", answerPings(ws));
    this.#timer = setTimeout(() => this.cut(1008, "handshake timeout"), deps.handshakeTimeoutMs);
    this.write(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce: this.#nonce, ts: Date.now() } }));
  }

  get info(): ClientInfo {
    return this.#info as ClientInfo;
  }

  buffered(): number {
    return this.#site.ws.bufferedAmount;
  }

  progress(): number {
    return sentBytes(this.#site.socket);
  }

  write(frame: string): void {
    const { ws, socket, turn } = this.#site;
    if (ws.readyState !== ws.OPEN) return;
    turn.write(socket, frame.length);
    this.#deps.logger.trace("frame out", () => tracedFrame(frame, this.#info));
    ws.send(frame);
  }

  /** Closes with a code and takes nothing in any more; ws destroys the socket of a peer that does not answer the close frame. */
  cut(code: number, reason: string): void {
    const { ws } = this.#site;
    this.#lane.clear();
    this.#subscription?.remove();
    if (ws.readyState >= ws.CLOSING) return;
    ws.resume();
    ws.close(code, closeReason(reason));
  }

  terminate(): void {
    this.#site.ws.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    const { ws } = this.#site;
    // Whatever follows our close frame is not looked at.
    if (ws.readyState !== ws.OPEN) return;
    if (ws.bufferedAmount > limits.stallBytes) this.#readLater();
    if (this.#held) return this.#hold(data, isBinary);
    if (isBinary) return this.cut(1003, "");
    const text = data.toString();
    const frame = parseRequest(text);
    this.#deps.logger.trace("frame in", () => tracedFrame(text, this.#info));
    if (!this.#info) return this.#beforeHello(frame);
    if (frame instanceof SvcError) return this.#badFrame(frame);
    if (frame.method === "connect") return this.#respond(frame.id, protocolErrors.alreadyConnected());
    if (!this.#lane.offer({ frame, chars: text.length })) return this.#respond(frame.id, commonErrors.busy({}, { retryAfterMs: 1_000 }));
    this.#charsUnderWay += text.length;
    this.#steer();
  }

  /** A client that asks on and does not read the answers is not read either, until they have left. */
  #readLater(): void {
    const { socket } = this.#site;
    if (this.#isDraining || !socket.writableNeedDrain) return;
    this.#isDraining = true;
    socket.once("drain", () => {
      this.#isDraining = false;
      this.#steer();
    });
    this.#steer();
  }

  /** Holds frames pipelined behind a `connect` until it is answered; they run only after hello-ok. No more is read meanwhile. */
  #hold(data: RawData, isBinary: boolean): void {
    this.#held?.push([data, isBinary]);
    this.#steer();
  }

  /** Reads on unless something speaks against it. */
  #steer(): void {
    const { ws } = this.#site;
    const isFull = this.#isDraining || this.#charsUnderWay > MAX_CHARS_UNDER_WAY || (this.#held?.length ?? 0) > 0;
    if (isFull && ws.readyState === ws.OPEN) ws.pause();
    else if (ws.isPaused) ws.resume();
  }

  #beforeHello(frame: RequestFrame | SvcError): void {
    if (frame instanceof SvcError) return this.cut(1008, "invalid request frame");
    if (frame.method !== "connect") return this.#refuse(frame.id, protocolErrors.firstNotConnect());
    const phase = this.#deps.phase();
    if (phase === "starting" || phase === "plugins") {
      return this.#refuse(frame.id, protocolErrors.gatewayStarting({ reason: "startup-sidecars" }, { retryAfterMs: 500 }));
    }
    if (!isServing(phase)) return this.#refuseLate(frame.id);
    this.#held = [];
    void this.#handshake(frame, this.#req as IncomingMessage);
  }

  #refuseLate(id: string): void {
    this.#refuse(id, sharedErrors.draining({}, { retryAfterMs: 1_000 }));
  }

  async #handshake(frame: RequestFrame, req: IncomingMessage): Promise<void> {
    const { ws, revocations } = this.#site;
    try {
      const { info, hello, rights } = await this.#deps.admit(frame.params, req, this.#nonce);
      if (!isServing(this.#deps.phase())) this.#refuseLate(frame.id);
      else this.#unfollow = followGrants(rights, revocations, (reason) => this.cut(4001, reason));
      if (ws.readyState !== ws.OPEN) {
        this.#unfollow?.();
        return this.#deps.left(info, 1006, "");
      }
      this.#settle(info, frame.id, hello);
    } catch (error) {
      if (isSvcError(error)) return this.#refuse(frame.id, error);
      this.#deps.logger.error("a handshake failed", { error });
      this.cut(1011, "internal error");
    }
  }

  #settle(info: ClientInfo, id: string, hello: unknown): void {
    const { ws, settled } = this.#site;
    clearTimeout(this.#timer);
    raiseFrameLimits(ws);
    settled();
    this.#req = undefined;
    this.#info = info;
    this.#subscription = this.#deps.fanout.add(this);
    this.#respond(id, undefined, hello);
    this.#timer = setInterval(() => this.#beat(), limits.pingIntervalMs);
    this.#deps.joined(info);
    this.#deps.logger.debug("client connected", () => described(info));
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#steer();
    for (const [data, isBinary] of held) this.#receive(data, isBinary);
  }

  #refuse(id: string, error: SvcError): void {
    this.write(JSON.stringify({ type: "res", id, ok: false, error: toWireError(error) }));
    const { code, reason } = refusalClose(error);
    this.cut(code, reason);
  }

  #badFrame(error: SvcError): void {
    this.#respond(String(error.fields.id ?? "invalid"), error);
    this.#isTooBad ??= createBadFrames(badFrames, this.#deps.monotonic);
    if (this.#isTooBad()) this.cut(1008, "too many invalid frames");
  }

  async #serve({ frame, chars }: Asked, leave: () => void): Promise<void> {
    let place: Disposable | undefined;
    let isDone = false;
    const done = () => {
      if (isDone) return;
      isDone = true;
      void place?.dispose();
      this.#charsUnderWay -= chars;
      this.#steer();
      leave();
    };
    try {
      place = await this.#deps.methods.admit(frame.method, this.#signal());
      if (this.#site.ws.readyState !== this.#site.ws.OPEN) return;
      const result = await this.#deps.methods.call(frame.method, frame.params, this.#call(frame, done));
      const text = result instanceof RawJson ? result.text : this.#jsonOf(frame.method, result);
      this.#respond(frame.id, undefined, new RawJson(text));
    } catch (error) {
      this.#respond(frame.id, error ?? commonErrors.failed({ message: "the method failed" }));
    } finally {
      done();
    }
  }

  /** @throws {SvcError} `failed` for what cannot be sent, after the log has named its plugin */
  #jsonOf(method: string, result: unknown): string {
    let cause: unknown;
    try {
      const text = JSON.stringify(result === undefined ? {} : result) as string | undefined;
      if (text !== undefined) return text;
      cause = new TypeError(`it is a ${typeof result}`);
    } catch (error) {
      cause = error;
    }
    throw this.#deps.methods.unsendable(method, cause);
  }

  #signal(): AbortSignal {
    if (!this.#gone) {
      this.#gone = new AbortController();
      setMaxListeners(0, this.#gone.signal); // each waiting request listens
    }
    return this.#gone.signal;
  }

  #call(frame: RequestFrame, done: () => void): RpcCall {
    const traceparent = validTraceparent(frame.traceparent);
    return {
      client: this.info,
      signal: this.#signal(),
      ...(traceparent === undefined ? {} : { traceparent }),
      accept: (payload) => {
        this.#respond(frame.id, undefined, payload);
        done();
      },
      subscribe: (topic) => {
        this.#subscription?.subscribe(topic);
        return { dispose: () => this.#subscription?.unsubscribe(topic) };
      },
      unsubscribe: (topic) => this.#subscription?.unsubscribe(topic),
    };
  }

  #respond(id: string, error?: unknown, payload?: unknown): void {
    this.#subscription?.answer(error === undefined ? formatAnswer(id, payload) : formatRefusal(id, error));
  }

  #beat(): void {
    // Its pong would not be read now, however much it is there.
    if (this.#charsUnderWay > MAX_CHARS_UNDER_WAY) return;
    const what = this.#liveness.beat();
    if (what === "gone") return this.terminate();
    const { ws } = this.#site;
    if (what === "ping" && ws.readyState === ws.OPEN) ws.ping("", false, this.#liveness.written);
  }

  #closed(code: number, reason: string): void {
    clearTimeout(this.#timer);
    this.#unfollow?.();
    this.#subscription?.remove();
    this.#lane.clear();
    this.#gone?.abort(commonErrors.connectionClosed({ code, reason }));
    if (!this.#info) return;
    const info = this.#info;
    this.#deps.logger.debug("client disconnected", () => ({ ...described(info), code, ...(reason ? { reason } : {}) }));
    this.#deps.left(info, code, reason);
  }
}

function described({ connId, clientId, mode, remote, scopes }: ClientInfo): LogFields {
  return { connId, clientId, mode, remote, scopes: scopes.join(" ") };
}

/**
 * Answers pings, with one unsent pong at a time and the most recent ping after it (RFC 6455 5.5.3): pongs for a client that reads nothing would pile up
 * without a bound.
 */
function answerPings(ws: WebSocket): (data: Buffer) => void {
  let isSending = false;
  let next: Buffer | undefined;
  const send = (data: Buffer) => {
    isSending = true;
    ws.pong(data, false, () => {
      isSending = false;
      const latest = next;
      next = undefined;
      if (latest !== undefined && ws.readyState === ws.OPEN) send(latest);
    });
  };
  return (data) => {
    if (isSending) next = data;
    else if (ws.readyState === ws.OPEN) send(data);
  };
}

/** Pieces of one message after the handshake, the defaults of ws. */
const piecesAfterHello = { _maxFragments: 16_384, _maxBufferedChunks: 262_144 };

/** ws 8 has one set of limits per server; its receiver reads the fields for each frame (test/kernel/handshake.test.ts pins this). */
function raiseFrameLimits(ws: WebSocket): void {
  const { _receiver: receiver } = ws as unknown as { _receiver?: object };
  if (receiver) Object.assign(receiver, piecesAfterHello, { _maxPayload: limits.maxPayload });
}
