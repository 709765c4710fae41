import type { EventFrame, HelloOk } from "../protocol/frames.ts";
import type { JsonObject } from "../types/common.ts";
import { isRefusal, reconnectDelayMs } from "./backoff.ts";
import { createContinuity } from "./continuity.ts";
import { ClientError } from "./error.ts";
import { HANDSHAKE_TIMEOUT_MS, type Link, openLink, REQUEST_TIMEOUT_MS } from "./link.ts";
import { createListeners } from "./listeners.ts";
import { createPending } from "./pending.ts";
import { createRefresh } from "./refresh.ts";
import type { ClientAuth, ClientOptions, ClientPlatform, ClientState, Gap, RequestOptions, SvcClient } from "./types.ts";

const DEFAULT_SCOPES = ["operator.read", "operator.write"];

interface Waiter {
  resolve(hello: HelloOk): void;
  reject(error: ClientError): void;
}

/**
 * The client without a platform: no import here is more than a relative path, so a browser loads these files as they are emitted.
 * Reconnects with backoff and jitter, notices silence, lost events and stale versions (`protocol.md` 4 and 7).
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
  let restartFloorMs: number | undefined;
  let usedAuth = "";
  let cancelRetry: (() => void) | undefined;
  const waiters: Waiter[] = [];

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
      const auth = await readAuth();
      if (mine !== generation) return;
      usedAuth = JSON.stringify(auth ?? {});
      link = openLink(platform, linkOptions(auth, mine));
    } catch (error) {
      if (mine === generation) lost(cannotDial(options.url, error));
    }
  }

  async function readAuth(): Promise<ClientAuth | undefined> {
    return typeof options.auth === "function" ? await options.auth() : options.auth;
  }

  function linkOptions(auth: ClientAuth | undefined, mine: number): Parameters<typeof openLink>[1] {
    return {
      url: options.url,
      headers: options.headers ?? {},
      handshakeTimeoutMs: options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
      connect: {
        client: { ...platform.identity, ...options.client },
        role: "operator",
        scopes: [...(options.scopes ?? DEFAULT_SCOPES)],
        ...(options.caps ? { caps: [...options.caps] } : {}),
        ...(auth ? { auth } : {}),
        ...(options.locale === undefined ? {} : { locale: options.locale }),
        ...(options.userAgent === undefined ? {} : { userAgent: options.userAgent }),
      },
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
    attempt = 0;
    restartFloorMs = undefined;
    continuity.connected(next.server.bootId, next.snapshot.stateVersion);
    setState({ state: "connected", hello: next });
    for (const waiter of waiters.splice(0)) waiter.resolve(next);
    if (isReconnect) void refresh("reconnect");
  }

  function received(frame: EventFrame): void {
    const verdict = continuity.accept(frame);
    const payload = (frame.payload ?? {}) as JsonObject;
    if (frame.event === "shutdown" && typeof payload.restartExpectedMs === "number") restartFloorMs = payload.restartExpectedMs;
    if (!verdict.stale) {
      events.call(frame.event, payload, frame);
      events.call("*", payload, frame);
    }
    if (verdict.gap) void refresh("gap");
  }

  /** The connection ended or never began: wait, give up, or try changed credentials. */
  function lost(error: ClientError): void {
    link = undefined;
    pending.rejectAll(asConnectionClosed(error));
    if (options.reconnect === false) settle({ state: "closed", error }, error);
    else if (!isRefusal(error) || options.retryRefused?.(error)) wait(error);
    else if (typeof options.auth === "function") void retryChangedAuth(error);
    else settle({ state: "refused", error }, error);
  }

  async function retryChangedAuth(error: ClientError): Promise<void> {
    const mine = generation;
    const auth = await readAuth().catch(() => undefined);
    if (mine !== generation) return;
    if (JSON.stringify(auth ?? {}) === usedAuth) settle({ state: "refused", error }, error);
    else void dial();
  }

  function wait(error: ClientError): void {
    const restarting = restartFloorMs !== undefined;
    attempt = Math.max(1, attempt);
    const delayMs = reconnectDelayMs(attempt, platform.random(), Math.max(error.retryAfterMs ?? 0, restartFloorMs ?? 0));
    if (restarting) restartFloorMs = 0;
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
    return pending.request((frame) => open.send(frame), method, params, requestOptions);
  }

  async function close(): Promise<void> {
    generation += 1;
    cancelRetry?.();
    const error = new ClientError("connection-closed", "the connection was closed by this client", { details: { closeCode: 1000 } });
    const ended = link?.close(1000, "");
    link = undefined;
    pending.rejectAll(error);
    if (state.state !== "closed") settle({ state: "closed" }, error);
    await ended;
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
    on: (event, listener) => events.add(event, listener),
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
