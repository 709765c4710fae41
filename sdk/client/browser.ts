import { createClientCore } from "./core.ts";
import type { ClientOptions, ClientPlatform, ClientSocket, SocketEnd, SocketHandlers, SvcClient } from "./types.ts";

export { backoffMs, reconnectDelayMs } from "./backoff.ts";
export { type BrowserDeviceOptions, createBrowserDevice } from "./browser-device.ts";
export type { ClientDevice, DeviceKey } from "./device.ts";
export { ClientError, type ErrorDetails, isClientError } from "./error.ts";
export { MAX_PENDING } from "./pending.ts";
export type * from "./types.ts";

const CLOSE_WAIT_MS = 1_000;

/** The part of the browser's WebSocket that is used; the tree is compiled without the DOM library. */
interface BrowserSocket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}
const page = globalThis as unknown as { WebSocket: new (url: string) => BrowserSocket };

const browser: ClientPlatform = {
  openSocket,
  identity: { id: "gateway-client", version: "1.0.0", platform: "browser", mode: "ui" },
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(fn, delayMs) {
    const timer = setTimeout(fn, delayMs);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** The client over the browser's own WebSocket; `headers` do nothing here. Nothing happens before `connect()`. */
export function createClient(options: ClientOptions): SvcClient {
  return createClientCore(browser, options);
}

function openSocket(url: string, handlers: SocketHandlers): ClientSocket {
  const socket = new page.WebSocket(url);
  let opened = false;
  let cut: ReturnType<typeof setTimeout> | undefined;
  let ended = false;

  function done(end: SocketEnd): void {
    if (ended) return;
    ended = true;
    clearTimeout(cut);
    handlers.done(end);
  }

  socket.onopen = () => {
    opened = true;
  };
  socket.onmessage = (event) => {
    if (typeof event.data === "string") handlers.message(event.data);
  };
  socket.onclose = (event) => {
    // A page is not told why a socket never opened; 1006 before `open` is all there is.
    if (opened) done({ closed: true, code: event.code, reason: event.reason });
    else done({ closed: false, reason: "network", message: "the connection could not be opened" });
  };

  return {
    send: (text) => socket.send(text),
    close(code, reason) {
      socket.close(code, reason);
      // A browser waits long for the other side's close frame on a dead path; nothing is owed to it any more.
      cut ??= setTimeout(() => done({ closed: true, code, reason }), CLOSE_WAIT_MS);
    },
  };
}
