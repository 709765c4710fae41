import type { ConnectParams, HelloOk } from "../protocol/frames.ts";
import type { ResultOf } from "../protocol/results.ts";
import type { TypedEvents, TypedRequest } from "../protocol/typed.ts";
import type { JsonObject } from "../types/common.ts";
import type { ClientDevice } from "./device.ts";
import type { ClientError } from "./error.ts";

/** Secrets of one connect attempt. */
export type ClientAuth = NonNullable<ConnectParams["auth"]>;

/** Name of the client in `connect`. */
export type ClientIdentity = ConnectParams["client"];

/** Connection options; all but `url` have a default. */
export interface ClientOptions {
  /** `ws://host:port` or `wss://…`. */
  url: string;
  /** Secrets, or a function that is asked before each attempt: a changed answer after a refusal is tried at once. */
  auth?: ClientAuth | (() => ClientAuth | undefined | Promise<ClientAuth | undefined>);
  /** Proves this installation and keeps its token; needed beyond loopback. Default: no device. */
  device?: ClientDevice;
  /** Missing fields get the entry's defaults (Node: `gateway-client`, mode `backend`). */
  client?: Partial<ClientIdentity>;
  /** Default `operator.read` and `operator.write`. */
  scopes?: readonly string[];
  /** Abilities, such as `tool-events`. */
  caps?: readonly string[];
  locale?: string;
  userAgent?: string;
  /** Extra headers of the upgrade (Node only; a browser ignores them). */
  headers?: Readonly<Record<string, string>>;
  /**
   * Only a server with this certificate is accepted (SHA-256, with or without colons); its name and its issuer are not looked at then. Node only: a browser
   * goes by its own list.
   */
  tlsFingerprint?: string;
  /** Try again after a lost connection; default true. */
  reconnect?: boolean;
  /** A refusal ends the attempts unless this says true: then it is retried with backoff, as a pending pairing is. */
  retryRefused?(error: ClientError): boolean;
  /** From dialling to `hello-ok`; default 15 s. */
  handshakeTimeoutMs?: number;
  /** Default for `request`; 30 s. */
  requestTimeoutMs?: number;
  onState?(state: ClientState): void;
}

/**
 * Where the connection stands. `waiting` will try again by itself at `retryAtMs` (epoch ms); `refused` will not: call `connect()` when
 * something changed; `closed` is the state before `connect()` and after `close()`.
 */
export type ClientState =
  | { state: "connecting"; attempt: number }
  | { state: "connected"; hello: HelloOk }
  | { state: "waiting"; retryAtMs: number; attempt: number; restarting: boolean; error: ClientError }
  | { state: "refused"; error: ClientError }
  | { state: "closed"; error?: ClientError };

/** Limits and phases of one request. */
export interface RequestOptions {
  /** Until the first answer; default `requestTimeoutMs`. 0 = no limit but the connection's life. */
  timeoutMs?: number;
  /** Called for `status: "accepted"` of a method that answers twice; the promise then waits for the final answer. Without it the accepted answer is the result. */
  onAccepted?(payload: JsonObject): void;
  /** From `accepted` to the final answer; default 24 h, the longest run. */
  finalTimeoutMs?: number;
  /** Ends the wait, not the work: what the gateway accepted goes on. */
  signal?: AbortSignal;
  traceparent?: string;
}

/** Reason why the caller may have missed something: events were lost, or the connection is a new one. */
export interface Gap {
  cause: "gap" | "reconnect";
  /** Fresh answers of `health` and `system-presence`; absent when the connection may not read them. */
  health?: ResultOf<"health">;
  presence?: ResultOf<"system-presence">;
}

/** A client of the gateway's control protocol: one connection at a time, made again when it is lost. */
export interface SvcClient {
  /** Hello of the present or the last connection. */
  readonly hello: HelloOk | undefined;
  readonly state: ClientState;
  /**
   * Starts connecting, or tries at once while waiting. Resolves with `hello-ok`.
   * @throws {ClientError} on a refusal, on `close()`, and with `reconnect: false` on any failure
   */
  connect(): Promise<HelloOk>;
  /**
   * One request.
   * @throws {ClientError} the wire error, `request-timed-out`, `connection-closed`, `too-many-pending` (over 1,000 open), `aborted`
   */
  request: TypedRequest<RequestOptions>;
  /** Events by name; `"*"` = every one. Stale `health` and `presence` events are left out. Returns the way to stop. */
  on: TypedEvents;
  onState(listener: (state: ClientState) => void): () => void;
  /** After lost events and after each reconnect, once `health` and `system-presence` are fresh. Re-read lists and open chats here. */
  onGap(listener: (gap: Gap) => void): () => void;
  /** Ends the connection for good; open requests reject with `connection-closed`. */
  close(): Promise<void>;
}

/** A socket of any make; the entry modules adapt `ws` and the browser's. */
export interface ClientSocket {
  send(text: string): void;
  /** Sends a close frame; `done` of the handlers follows within a second. */
  close(code: number, reason: string): void;
}

/** Callbacks from a socket to the core. */
export interface SocketHandlers {
  message(text: string): void;
  /** Called once, when the socket is gone or never came to be. */
  done(end: SocketEnd): void;
}

/** End of a socket: closed after it was open, or never open at all. */
export type SocketEnd =
  | { closed: true; code: number; reason: string }
  | { closed: false; reason: "refused" | "timeout" | "not-a-gateway" | "network"; message: string };

/** Options for opening a socket, besides the address. */
export interface SocketOptions {
  headers: Readonly<Record<string, string>>;
  /** See `ClientOptions`. */
  tlsFingerprint?: string | undefined;
}

/** Platform functions that the core depends on. */
export interface ClientPlatform {
  openSocket(url: string, handlers: SocketHandlers, options: SocketOptions): ClientSocket;
  identity: ClientIdentity;
  /** Epoch ms. */
  now(): number;
  /** Monotonic ms, so that a clock set back is not taken for silence. */
  monotonic(): number;
  /** Returns the way to cancel. */
  setTimeout(fn: () => void, delayMs: number): () => void;
  /** In [0, 1). */
  random(): number;
}
