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

/** Where to dial, what to say there, and whom to tell. */
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
  let phase: "challenge" | "hello" | "open" | "ended" = "challenge";
  let lastHeard = platform.monotonic();
  let gone: () => void = () => undefined;
  const whenGone = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const socket: ClientSocket = platform.openSocket(
    options.url,
    { message, done },
    { headers: options.headers, tlsFingerprint: options.tlsFingerprint },
  );
  // After the socket: an address that cannot be dialled throws, and nobody is left to cancel a timer.
  let cancelTimer = platform.setTimeout(() => fail(handshakeTimeout(options), 1000, "handshake timeout"), options.handshakeTimeoutMs);

  function end(error: ClientError): void {
    if (phase === "ended") return;
    phase = "ended";
    cancelTimer();
    options.onEnd(error);
  }

  function fail(error: ClientError, code: number, reason: string): void {
    end(error);
    socket.close(code, reason);
  }

  function done(outcome: SocketEnd): void {
    end(endError(options.url, outcome));
    gone();
  }

  function message(text: string): void {
    if (phase === "ended") return;
    lastHeard = platform.monotonic();
    const frame = parseFrame(text);
    if (phase === "challenge") challenge(frame);
    else if (phase === "hello" && frame?.type === "res" && frame.id === CONNECT_ID) greet(frame);
    else if (phase === "open" && frame?.type === "res") options.onResponse(frame);
    else if (phase === "open" && frame?.type === "event") options.onEvent(frame);
  }

  function challenge(frame: ServerFrame | undefined): void {
    if (frame?.type !== "event" || frame.event !== "connect.challenge") {
      fail(notAGateway(options.url), 1000, "unexpected frame");
      return;
    }
    phase = "hello";
    const { nonce, ts } = (frame.payload ?? {}) as { nonce?: unknown; ts?: unknown };
    if (typeof nonce !== "string" || typeof ts !== "number") {
      fail(notAGateway(options.url), 1000, "unexpected frame");
      return;
    }
    options.connect({ nonce, ts }).then(introduce, (error: unknown) => {
      fail(new ClientError("device-unusable", `this device cannot prove itself: ${messageOf(error)}`), 1000, "no proof");
    });
  }

  function introduce(connect: Omit<ConnectParams, "minProtocol" | "maxProtocol">): void {
    if (phase !== "hello") return; // ended while the device signed
    const params = { minProtocol: PROTOCOL_VERSION, maxProtocol: PROTOCOL_VERSION, ...connect };
    send({ type: "req", id: CONNECT_ID, method: "connect", params });
  }

  function greet(frame: ResponseFrame): void {
    if (!frame.ok) {
      // The gateway's close frame follows; ending here keeps the reason also when that frame is lost.
      fail(fromWire(frame.error, frame.payload), 1000, "refused");
      return;
    }
    phase = "open";
    const hello = frame.payload as HelloOk;
    watch(2 * hello.policy.tickIntervalMs);
    options.onHello(hello);
  }

  /** Nothing received for two ticks: the path is dead although the socket may not know it. */
  function watch(silenceMs: number): void {
    cancelTimer();
    const left = lastHeard + silenceMs - platform.monotonic();
    if (left <= 0) fail(closed(4000, "tick timeout"), 4000, "tick timeout");
    else cancelTimer = platform.setTimeout(() => watch(silenceMs), left);
  }

  function send(frame: RequestFrame): void {
    socket.send(JSON.stringify(frame));
  }

  function close(code: number, reason: string): Promise<void> {
    fail(closed(code, reason), code, reason);
    return whenGone;
  }

  return { send, close };
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
