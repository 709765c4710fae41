import type { EventFrame, HelloOk } from "../protocol/frames.ts";
import type { JsonObject } from "../types/common.ts";
import { backoffMs, isRefusal, reconnectDelayMs, restartDelayMs } from "./backoff.ts";
import { createContinuity } from "./continuity.ts";
import { type Attempt, createCredentials } from "./credentials.ts";
import { proveDevice } from "./device.ts";
import { ClientError } from "./error.ts";
import { HANDSHAKE_TIMEOUT_MS, type Link, openLink, REQUEST_TIMEOUT_MS } from "./link.ts";
import { createListeners } from "./listeners.ts";
import { createPending } from "./pending.ts";
import { createRefresh } from "./refresh.ts";
import type { ClientOptions, ClientPlatform, ClientState, Gap, RequestOptions, SvcClient } from "./types.ts";

const DEFAULT_SCOPES = ["operator.read", "operator.write"];

interface Waiter {
  resolve(hello: HelloOk): void;
  reject(error: ClientError): void;
}

/**
 * The client without a platform: no import here is more than a relative path, so a browser loads these files as they are emitted.
 * Reconnects with backoff and jitter, notices silence, lost events and stale versions.
 */
export function createClientCore(platform: ClientPlatform, options: ClientOptions): SvcClient {
  // A listener's fault must not disturb the protocol; it surfaces like any uncaught error, in its own turn.
  const surface = (error: unknown) => void platform.setTimeout(() => raise(error), 0);
  const events = createListeners<[JsonObject, EventFrame]>(surface);
  const states = createListeners<[ClientState]>(surface);
  const gaps = createListeners<[Gap]>(surface);
  const pending = createPending(platform, options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
  const continuity = createContinuity();

  let state: ClientState = { state: "closed" };
  let hello: HelloOk | undefined;
  let link: Link | undefined;
  let attempt = 0;
  let generation = 0;
  let restartExpectedMs: number | undefined;
  let connectedAt: number | undefined;
  let cancelRetry: (() => void) | undefined;
  let keeping: Promise<void> = Promise.resolve();
  const waiters: Waiter[] = [];
  const credentials = createCredentials(
    async () => (typeof options.auth === "function" ? await options.auth() : options.auth),
    options.device,
  );

  const refresh = createRefresh(
    (method) => request(method, {}),
    (gap) => gaps.call("gap", gap),
  );

  function setState(next: ClientState): void {
    state = next;
    options.onState?.(next);
    states.call("state", next);
  }

  function connect(): Promise<HelloOk> {
    if (state.state === "connected") return Promise.resolve(state.hello);
    const answer = new Promise<HelloOk>((resolve, reject) => waiters.push({ resolve, reject }));
    if (state.state !== "connecting") {
      attempt = 0;
      void dial();
    }
    return answer;
  }

  async function dial(): Promise<void> {
    cancelRetry?.();
    const mine = ++generation;
    attempt += 1;
    setState({ state: "connecting", attempt });
    try {
      const chosen = await credentials.next();
      if (mine === generation) link = openLink(platform, linkOptions(chosen, mine));
    } catch (error) {
      if (mine === generation) lost(cannotDial(options.url, error));
    }
  }

  function linkOptions({ auth, key }: Attempt, mine: number): Parameters<typeof openLink>[1] {
    const connect = {
      client: { ...platform.identity, ...options.client },
      role: "operator",
      scopes: [...(options.scopes ?? DEFAULT_SCOPES)],
      ...(options.caps ? { caps: [...options.caps] } : {}),
      ...(auth ? { auth } : {}),
      ...(options.locale === undefined ? {} : { locale: options.locale }),
      ...(options.userAgent === undefined ? {} : { userAgent: options.userAgent }),
    };
    return {
      url: options.url,
      headers: options.headers ?? {},
      tlsFingerprint: options.tlsFingerprint,
      handshakeTimeoutMs: options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
      // The gateway's clock decides about a signature's age, and it has just said what time it is there.
      connect: async ({ nonce, ts }) => (key ? { ...connect, device: await proveDevice(key, connect, { nonce, signedAt: ts }) } : connect),
      onHello: greeted,
      onResponse: (frame) => pending.answer(frame),
      onEvent: received,
      onEnd: (error) => {
        if (mine === generation) lost(error);
      },
    };
  }

  function greeted(next: HelloOk): void {
    const isReconnect = hello !== undefined;
    hello = next;
    restartExpectedMs = undefined;
    connectedAt = platform.monotonic();
    // A store that fails costs the next sign-in, not this connection.
    keep(next.auth.deviceToken).catch(surface);
    continuity.connected(next.server.bootId, next.snapshot.stateVersion);
    setState({ state: "connected", hello: next });
    for (const waiter of waiters.splice(0)) waiter.resolve(next);
    if (isReconnect) void refresh("reconnect");
  }

  function received(frame: EventFrame): void {
    const verdict = continuity.accept(frame);
    const payload = (frame.payload ?? {}) as JsonObject;
    if (frame.event === "shutdown" && typeof payload.restartExpectedMs === "number") restartExpectedMs = payload.restartExpectedMs;
    if (!verdict.stale) {
      events.call(frame.event, payload, frame);
      events.call("*", payload, frame);
    }
    if (verdict.gap) void refresh("gap");
  }

  /** The connection ended or never began: wait, give up, or try other credentials. */
  function lost(error: ClientError): void {
    link = undefined;
    if (connectedAt !== undefined && platform.monotonic() - connectedAt >= backoffMs.steady) attempt = 0;
    connectedAt = undefined;
    pending.rejectAll(asConnectionClosed(error));
    if (options.reconnect !== false && !isFinal(error)) wait(error);
    else if (isRefusal(error)) void retryWithOthers(error);
    else settle({ state: "closed", error }, error);
  }

  /** Nothing but a person can change the outcome, and this client cannot notice when one has. */
  function isFinal(error: ClientError): boolean {
    if (options.device && error.detailCode === "PAIRING_REQUIRED") return false; // somebody may approve it any moment
    return isRefusal(error) && !options.retryRefused?.(error);
  }

  async function retryWithOthers(error: ClientError): Promise<void> {
    const mine = generation;
    const hasOthers = await credentials.refused(error).catch(() => false);
    if (mine !== generation) return;
    if (hasOthers) void dial();
    else settle({ state: options.reconnect === false ? "closed" : "refused", error }, error);
  }

  function wait(error: ClientError): void {
    const restarting = restartExpectedMs !== undefined;
    attempt = Math.max(1, attempt);
    const random = platform.random();
    const delayMs = restartExpectedMs
      ? restartDelayMs(Math.max(restartExpectedMs, error.retryAfterMs ?? 0), random)
      : reconnectDelayMs(attempt, random, error.retryAfterMs);
    if (restarting) restartExpectedMs = 0;
    cancelRetry = platform.setTimeout(() => void dial(), delayMs);
    setState({ state: "waiting", retryAtMs: platform.now() + delayMs, attempt, restarting, error });
  }

  function settle(next: ClientState, error: ClientError): void {
    setState(next);
    for (const waiter of waiters.splice(0)) waiter.reject(error);
  }

  function request(method: string, params: JsonObject = {}, requestOptions: RequestOptions = {}): Promise<unknown> {
    const open = link;
    if (state.state !== "connected" || !open) {
      return Promise.reject(new ClientError("connection-closed", `${method}: not connected to the gateway`, { retryable: true }));
    }
    const answer = pending.request((frame) => open.send(frame), method, params, requestOptions);
    return method === "device.token.rotate" ? answer.then(keepRotated) : answer;
  }

  /** One after the other: the token that came last is the one that stays. */
  function keep(token: string | undefined): Promise<void> {
    keeping = keeping.catch(() => undefined).then(() => credentials.accepted(token));
    return keeping;
  }

  /** A token that this device had rotated is the one that opens from now on. */
  async function keepRotated(result: unknown): Promise<unknown> {
    const { token } = result as { token?: string };
    if (token !== undefined) await keep(token);
    return result;
  }

  async function close(): Promise<void> {
    generation += 1;
    cancelRetry?.();
    const error = new ClientError("connection-closed", "the connection was closed by this client", { details: { closeCode: 1000 } });
    const ended = link?.close(1000, "");
    link = undefined;
    pending.rejectAll(error);
    if (state.state !== "closed") settle({ state: "closed" }, error);
    await Promise.allSettled([ended, keeping]); // a program may end now, and its token would be lost
  }

  return {
    get hello() {
      return hello;
    },
    get state() {
      return state;
    },
    connect,
    request: request as SvcClient["request"],
    on: events.add as SvcClient["on"],
    onState: (listener) => states.add("state", listener),
    onGap: (listener) => gaps.add("gap", listener),
    close,
  };
}

function raise(error: unknown): never {
  throw error;
}

/** Requests see one code for every way a connection ends; the cause stays in the message and the details. */
function asConnectionClosed(error: ClientError): ClientError {
  if (error.code === "connection-closed") return error;
  return new ClientError("connection-closed", error.message, { details: error.details, retryable: true });
}

function cannotDial(url: string, error: unknown): ClientError {
  const message = error instanceof Error ? error.message : String(error);
  return new ClientError("gateway-unreachable", `gateway not reachable at ${url}: ${message}`, { details: { reason: "network" } });
}
