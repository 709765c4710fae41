import type { ConnectParams, EventFrame, HelloOk, RequestFrame, ResponseFrame, ServerFrame } from "../protocol/frames.ts";
import { ClientError, fromWire } from "./error.ts";
import type { ClientPlatform, ClientSocket, SocketEnd } from "./types.ts";

// Values of `sdk/protocol/frames.ts`, which cannot be imported here because it loads zod; the compiler compares them.
type Frames = typeof import("../protocol/frames.ts");
const PROTOCOL_VERSION: Frames["PROTOCOL_VERSION"] = 4;
/** Default limits, ms. */
export const REQUEST_TIMEOUT_MS: Frames["limits"]["requestTimeoutMs"] = 30_000;
export const HANDSHAKE_TIMEOUT_MS: Frames["limits"]["handshakeTimeoutMs"] = 15_000;
const CONNECT_ID = "connect";

/** Address to dial, handshake to send, and callbacks. */
export interface LinkOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  tlsFingerprint?: string | undefined;
  /** Params of `connect`, made when the challenge of this socket is there; a device signs its nonce and time. */
  connect(challenge: { nonce: string; ts: number }): Promise<Omit<ConnectParams, "minProtocol" | "maxProtocol">>;
  handshakeTimeoutMs: number;
  onHello(hello: HelloOk): void;
  onResponse(frame: ResponseFrame): void;
  onEvent(frame: EventFrame): void;
  /** Called once: refusal, loss, time-out or `close`. */
  onEnd(error: ClientError): void;
}

/** One socket from dialling to its end: handshake, frames, silence watchdog. Never reconnects. */
export interface Link {
  send(frame: RequestFrame): void;
  /** Resolves when the socket is gone, at the latest after a second. */
  close(code: number, reason: string): Promise<void>;
}

/** Dials. Every outcome arrives through the callbacks, never before this returns. */
export function openLink(platform: ClientPlatform, options: LinkOptions): Link {
  return new SocketLink(platform, options);
}

class SocketLink implements Link {
  readonly #platform: ClientPlatform;
  readonly #options: LinkOptions;
  readonly #socket: ClientSocket;
  readonly #whenGone: Promise<void>;
  #phase: "challenge" | "hello" | "open" | "ended" = "challenge";
  #lastHeard: number;
  #cancelTimer: () => void;

  constructor(platform: ClientPlatform, options: LinkOptions) {
    this.#platform = platform;
    this.#options = options;
    this.#lastHeard = platform.monotonic();
    let gone: () => void = () => undefined;
    this.#whenGone = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const done = (outcome: SocketEnd) => {
      this.#end(endError(options.url, outcome));
      gone();
    };
    const { headers, tlsFingerprint } = options;
    this.#socket = platform.openSocket(options.url, { message: (text) => this.#onMessage(text), done }, { headers, tlsFingerprint });
    // After the socket: an address that cannot be dialled throws, and nobody is left to cancel a timer.
    this.#cancelTimer = platform.setTimeout(
      () => this.#fail(handshakeTimeout(options), 1000, "handshake timeout"),
      options.handshakeTimeoutMs,
    );
  }

  send(frame: RequestFrame): void {
    this.#socket.send(JSON.stringify(frame));
  }

  close(code: number, reason: string): Promise<void> {
    this.#fail(closed(code, reason), code, reason);
    return this.#whenGone;
  }

  #end(error: ClientError): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    this.#cancelTimer();
    this.#options.onEnd(error);
  }

  #fail(error: ClientError, code: number, reason: string): void {
    this.#end(error);
    this.#socket.close(code, reason);
  }

  #onMessage(text: string): void {
    if (this.#phase === "ended") return;
    this.#lastHeard = this.#platform.monotonic();
    const frame = parseFrame(text);
    if (this.#phase === "challenge") this.#onChallenge(frame);
    else if (this.#phase === "hello" && frame?.type === "res" && frame.id === CONNECT_ID) this.#onAnswer(frame);
    else if (this.#phase === "open" && frame?.type === "res") this.#options.onResponse(frame);
    else if (this.#phase === "open" && frame?.type === "event") this.#options.onEvent(frame);
  }

  #onChallenge(frame: ServerFrame | undefined): void {
    if (frame?.type !== "event" || frame.event !== "connect.challenge") {
      this.#fail(notAGateway(this.#options.url), 1000, "unexpected frame");
      return;
    }
    this.#phase = "hello";
    const { nonce, ts } = (frame.payload ?? {}) as { nonce?: unknown; ts?: unknown };
    if (typeof nonce !== "string" || typeof ts !== "number") {
      this.#fail(notAGateway(this.#options.url), 1000, "unexpected frame");
      return;
    }
    const introduce = (connect: Omit<ConnectParams, "minProtocol" | "maxProtocol">) => this.#introduce(connect);
    this.#options.connect({ nonce, ts }).then(introduce, (error: unknown) => {
      this.#fail(new ClientError("device-unusable", `this device cannot prove itself: ${messageOf(error)}`), 1000, "no proof");
    });
  }

  #introduce(connect: Omit<ConnectParams, "minProtocol" | "maxProtocol">): void {
    if (this.#phase !== "hello") return; // ended while the device signed
    const params = { minProtocol: PROTOCOL_VERSION, maxProtocol: PROTOCOL_VERSION, ...connect };
    this.send({ type: "req", id: CONNECT_ID, method: "connect", params });
  }

  /** Answer to `connect`. */
  #onAnswer(frame: ResponseFrame): void {
    if (!frame.ok) {
      // The gateway's close frame follows; ending here keeps the reason also when that frame is lost.
      this.#fail(fromWire(frame.error, frame.payload), 1000, "refused");
      return;
    }
    this.#phase = "open";
    const hello = frame.payload as HelloOk;
    this.#watch(2 * hello.policy.tickIntervalMs);
    this.#options.onHello(hello);
  }

  /** Nothing received for two ticks: the path is dead although the socket may not know it. */
  #watch(silenceMs: number): void {
    this.#cancelTimer();
    const left = this.#lastHeard + silenceMs - this.#platform.monotonic();
    if (left <= 0) this.#fail(closed(4000, "tick timeout"), 4000, "tick timeout");
    else this.#cancelTimer = this.#platform.setTimeout(() => this.#watch(silenceMs), left);
  }
}

/** A frame of the server, or undefined for anything else; unknown keys are left alone. */
function parseFrame(text: string): ServerFrame | undefined {
  try {
    const frame = JSON.parse(text) as ServerFrame | null;
    if (frame?.type === "res" && typeof frame.id === "string") return frame;
    return frame?.type === "event" && typeof frame.event === "string" ? frame : undefined;
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function endError(url: string, end: SocketEnd): ClientError {
  if (end.closed) return closed(end.code, end.reason);
  const message = `gateway not reachable at ${url}: ${end.message}`;
  return new ClientError("gateway-unreachable", message, { details: { reason: end.reason }, retryable: true });
}

function closed(code: number, reason: string): ClientError {
  const message = `the connection to the gateway closed (${code}${reason ? ` ${reason}` : ""})`;
  return new ClientError("connection-closed", message, { details: { closeCode: code, reason }, retryable: true });
}

function handshakeTimeout(options: LinkOptions): ClientError {
  const message = `gateway not reachable at ${options.url}: no handshake within ${options.handshakeTimeoutMs} ms`;
  return new ClientError("gateway-unreachable", message, { details: { reason: "timeout" }, retryable: true });
}

function notAGateway(url: string): ClientError {
  return new ClientError("gateway-unreachable", `gateway not reachable at ${url}: what answers there is not a gateway`, {
    details: { reason: "not-a-gateway" },
  });
}
