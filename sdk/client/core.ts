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
  const core = new ClientCore(platform, options);
  return {
    get hello() {
      return core.hello;
    },
    get state() {
      return core.state;
    },
    connect: () => core.connect(),
    request: core.request.bind(core) as SvcClient["request"],
    on: core.events.add as SvcClient["on"],
    onState: (listener) => core.states.add("state", listener),
    onGap: (listener) => core.gaps.add("gap", listener),
    close: () => core.close(),
  };
}

class ClientCore {
  readonly events;
  readonly states;
  readonly gaps;
  state: ClientState = { state: "closed" };
  hello: HelloOk | undefined;
  readonly #platform: ClientPlatform;
  readonly #options: ClientOptions;
  readonly #pending;
  readonly #continuity = createContinuity();
  readonly #credentials;
  readonly #refresh;
  readonly #waiters: Waiter[] = [];
  #link: Link | undefined;
  #attempt = 0;
  #generation = 0;
  #restartExpectedMs: number | undefined;
  #connectedAt: number | undefined;
  #cancelRetry: (() => void) | undefined;
  #keeping: Promise<void> = Promise.resolve();

  constructor(platform: ClientPlatform, options: ClientOptions) {
    this.#platform = platform;
    this.#options = options;
    this.events = createListeners<[JsonObject, EventFrame]>(this.#surface);
    this.states = createListeners<[ClientState]>(this.#surface);
    this.gaps = createListeners<[Gap]>(this.#surface);
    this.#pending = createPending(platform, options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
    this.#credentials = createCredentials(
      async () => (typeof options.auth === "function" ? await options.auth() : options.auth),
      options.device,
    );
    this.#refresh = createRefresh(
      (method) => this.request(method, {}),
      (gap) => this.gaps.call("gap", gap),
    );
  }

  connect(): Promise<HelloOk> {
    if (this.state.state === "connected") return Promise.resolve(this.state.hello);
    const answer = new Promise<HelloOk>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    if (this.state.state !== "connecting") {
      this.#attempt = 0;
      void this.#dial();
    }
    return answer;
  }

  request(method: string, params: JsonObject = {}, requestOptions: RequestOptions = {}): Promise<unknown> {
    const open = this.#link;
    if (this.state.state !== "connected" || !open) {
      return Promise.reject(new ClientError("connection-closed", `${method}: not connected to the gateway`, { retryable: true }));
    }
    const answer = this.#pending.request((frame) => open.send(frame), method, params, requestOptions);
    return method === "device.token.rotate" ? answer.then((result) => this.#keepRotated(result)) : answer;
  }

  async close(): Promise<void> {
    this.#generation += 1;
    this.#cancelRetry?.();
    const error = new ClientError("connection-closed", "the connection was closed by this client", { details: { closeCode: 1000 } });
    const ended = this.#link?.close(1000, "");
    this.#link = undefined;
    this.#pending.rejectAll(error);
    if (this.state.state !== "closed") this.#settle({ state: "closed" }, error);
    await Promise.allSettled([ended, this.#keeping]); // a program may end now, and its token would be lost
  }

  /** A listener's fault must not disturb the protocol; it surfaces like any uncaught error, in its own turn. */
  readonly #surface = (error: unknown): void => void this.#platform.setTimeout(() => raise(error), 0);

  #setState(next: ClientState): void {
    this.state = next;
    this.#options.onState?.(next);
    this.states.call("state", next);
  }

  async #dial(): Promise<void> {
    this.#cancelRetry?.();
    this.#generation += 1;
    const mine = this.#generation;
    this.#attempt += 1;
    this.#setState({ state: "connecting", attempt: this.#attempt });
    try {
      const chosen = await this.#credentials.next();
      if (mine === this.#generation) this.#link = openLink(this.#platform, this.#linkOptions(chosen, mine));
    } catch (error) {
      if (mine === this.#generation) this.#onLost(cannotDial(this.#options.url, error));
    }
  }

  #linkOptions({ auth, key }: Attempt, mine: number): Parameters<typeof openLink>[1] {
    const options = this.#options;
    const connect = {
      client: { ...this.#platform.identity, ...options.client },
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
      onHello: (hello) => this.#onHello(hello),
      onResponse: (frame) => this.#pending.answer(frame),
      onEvent: (frame) => this.#onEvent(frame),
      onEnd: (error) => {
        if (mine === this.#generation) this.#onLost(error);
      },
    };
  }

  #onHello(next: HelloOk): void {
    const isReconnect = this.hello !== undefined;
    this.hello = next;
    this.#restartExpectedMs = undefined;
    this.#connectedAt = this.#platform.monotonic();
    // A store that fails costs the next sign-in, not this connection.
    this.#keep(next.auth.deviceToken).catch(this.#surface);
    this.#continuity.connected(next.server.bootId, next.snapshot.stateVersion);
    this.#setState({ state: "connected", hello: next });
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(next);
    if (isReconnect) void this.#refresh("reconnect");
  }

  #onEvent(frame: EventFrame): void {
    const verdict = this.#continuity.accept(frame);
    const payload = (frame.payload ?? {}) as JsonObject;
    if (frame.event === "shutdown" && typeof payload.restartExpectedMs === "number") this.#restartExpectedMs = payload.restartExpectedMs;
    if (!verdict.stale) {
      this.events.call(frame.event, payload, frame);
      this.events.call("*", payload, frame);
    }
    if (verdict.gap) void this.#refresh("gap");
  }

  /** The connection ended or never began: wait, give up, or try other credentials. */
  #onLost(error: ClientError): void {
    this.#link = undefined;
    if (this.#connectedAt !== undefined && this.#platform.monotonic() - this.#connectedAt >= backoffMs.steady) this.#attempt = 0;
    this.#connectedAt = undefined;
    this.#pending.rejectAll(asConnectionClosed(error));
    if (this.#options.reconnect !== false && !this.#isFinal(error)) this.#wait(error);
    else if (isRefusal(error)) void this.#retryWithOthers(error);
    else this.#settle({ state: "closed", error }, error);
  }

  /** Nothing but a person can change the outcome, and this client cannot notice when one has. */
  #isFinal(error: ClientError): boolean {
    if (this.#options.device && error.detailCode === "PAIRING_REQUIRED") return false; // an operator may approve it any moment
    return isRefusal(error) && !this.#options.retryRefused?.(error);
  }

  async #retryWithOthers(error: ClientError): Promise<void> {
    const mine = this.#generation;
    const hasOthers = await this.#credentials.refused(error).catch(() => false);
    if (mine !== this.#generation) return;
    if (hasOthers) void this.#dial();
    else this.#settle({ state: this.#options.reconnect === false ? "closed" : "refused", error }, error);
  }

  #wait(error: ClientError): void {
    const restartExpectedMs = this.#restartExpectedMs;
    const restarting = restartExpectedMs !== undefined;
    this.#attempt = Math.max(1, this.#attempt);
    const random = this.#platform.random();
    const delayMs = restartExpectedMs
      ? restartDelayMs(Math.max(restartExpectedMs, error.retryAfterMs ?? 0), random)
      : reconnectDelayMs(this.#attempt, random, error.retryAfterMs);
    if (restarting) this.#restartExpectedMs = 0;
    this.#cancelRetry = this.#platform.setTimeout(() => void this.#dial(), delayMs);
    this.#setState({ state: "waiting", retryAtMs: this.#platform.now() + delayMs, attempt: this.#attempt, restarting, error });
  }

  #settle(next: ClientState, error: ClientError): void {
    this.#setState(next);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }

  /** One after the other: the token that came last is the one that stays. */
  #keep(token: string | undefined): Promise<void> {
    this.#keeping = this.#keeping.catch(() => undefined).then(() => this.#credentials.accepted(token));
    return this.#keeping;
  }

  /** A token that this device had rotated is the one that opens from now on. */
  async #keepRotated(result: unknown): Promise<unknown> {
    const { token } = result as { token?: string };
    if (token !== undefined) await this.#keep(token);
    return result;
  }
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
