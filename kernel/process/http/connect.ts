import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import { isSvcError } from "../../../sdk/errors.ts";
import { kernelErrors } from "../../errors.ts";
import type { Undici } from "./load-undici.ts";
import type { EnvProxy } from "./proxy.ts";

/** Longest time until a connection is there: to the server, to the proxy, through it. */
const CONNECT_MS = 10_000;

/** Opens the connections of one pool. */
export interface Connector {
  connect: buildConnector.connector;
  /** True for the error of a connection that had carried a response before it broke: the server has closed it between two requests. */
  wasReused(error: unknown): boolean;
  /** Ends what is being opened. */
  close(): void;
}

export interface ConnectorOptions {
  proxy: EnvProxy | undefined;
  /** Certificates trusted besides those of the process; for tests. */
  ca?: string | undefined;
  /** Limit for each step; for tests. */
  connectMs?: number | undefined;
}

type Callback = Parameters<buildConnector.connector>[1];

/** A connector of undici, to the server itself or through a tunnel (`CONNECT`) of a proxy: the proxy learns host and port and nothing of the request. */
export function createConnector(undici: Undici, { proxy, ca, connectMs = CONNECT_MS }: ConnectorOptions): Connector {
  const toServer = undici.buildConnector({ timeout: connectMs, allowH2: false, ...(ca === undefined ? {} : { ca }) });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one listener for each connection that is being opened
  const reused = new WeakSet<object>();

  const open = (options: buildConnector.Options, callback: Callback) => {
    // The connector's type leaves out that it returns the socket, which is the only way to end it while it connects.
    const socket = toServer(options, (...result) => {
      closing.signal.removeEventListener("abort", abort);
      (callback as (...result: unknown[]) => void)(...result);
    }) as unknown as Socket;
    const abort = () => void socket.destroy(closing.signal.reason as Error);
    closing.signal.addEventListener("abort", abort, { once: true });
    if (closing.signal.aborted) abort();
  };
  const openThrough = (through: EnvProxy, options: buildConnector.Options, callback: Callback) => {
    tunnel(undici, through, { options, ca, connectMs, signal: closing.signal }).then(
      (socket) => (options.protocol === "https:" ? open({ ...options, httpSocket: socket }, callback) : callback(null, socket)),
      (error: Error) => callback(error, null),
    );
  };

  return {
    connect(options, callback) {
      const opened = ((error: Error | null, socket: Socket | null) => {
        const before = socket?.bytesRead ?? 0;
        socket?.on("error", (broken) => {
          if (socket.bytesRead > before) reused.add(broken);
        });
        (callback as (error: Error | null, socket: Socket | null) => void)(error, socket);
      }) as Callback;
      if (proxy) openThrough(proxy, options, opened);
      else open(options, opened);
    },
    wasReused: (error) => typeof error === "object" && error !== null && reused.has(error),
    close: () => closing.abort(new Error("the connections were closed")),
  };
}

interface TunnelOptions {
  options: buildConnector.Options;
  ca: string | undefined;
  connectMs: number;
  signal: AbortSignal;
}

/** A connection to the server that the proxy has made. @throws {SvcError} `proxy-failed` */
async function tunnel(undici: Undici, proxy: EnvProxy, { options, ca, connectMs, signal }: TunnelOptions): Promise<Socket> {
  const failed = (problem: string, cause?: unknown) =>
    kernelErrors.proxyFailed({ proxy: proxy.name, problem, variable: `${proxy.variable} and NO_PROXY` }, { cause });
  const stop = new AbortController();
  const onClose = () => stop.abort(signal.reason);
  signal.addEventListener("abort", onClose, { once: true });
  if (signal.aborted) onClose();
  const timer = setTimeout(() => stop.abort(failed(`did not answer within ${connectMs / 1000} s`)), connectMs);
  // One connection is one tunnel.
  const client = new undici.Client(proxy.origin, {
    connect: { timeout: connectMs, ...(ca === undefined ? {} : { ca }) },
    headersTimeout: 0,
  });
  const host = options.hostname.includes(":") ? `[${options.hostname}]` : options.hostname;
  const target = `${host}:${options.port || (options.protocol === "https:" ? 443 : 80)}`;
  try {
    const headers = { host: target, ...(proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization }) };
    const { statusCode, socket } = await undici.connect(client, { path: target, headers, signal: stop.signal });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.on("error", () => undefined).destroy();
    throw failed(
      statusCode === 407
        ? "asks for a user and a password, or rejects the given ones (407)"
        : `refused a connection to ${target} (${statusCode})`,
    );
  } catch (error) {
    if (isSvcError(error)) throw error;
    if (stop.signal.aborted) throw stop.signal.reason;
    const { code } = error as { code?: string };
    const reason = code === "UND_ERR_SOCKET" ? "ECONNRESET" : code === "UND_ERR_CONNECT_TIMEOUT" ? "ETIMEDOUT" : code;
    throw failed(`cannot be used for a connection to ${target}${reason === undefined ? "" : `: ${reason}`}`, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onClose);
    void client.destroy();
  }
}
