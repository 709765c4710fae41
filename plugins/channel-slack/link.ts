import type { Socket } from "node:net";
import { isRecord, messageOf } from "svc/sdk";
import type { SlackAccount } from "./accounts.ts";
import type { SlackApi } from "./api.ts";
import { type SlackLibrary, silentLogger } from "./library.ts";
import type { SlackTiming } from "./timing.ts";

/** Something that came over a link, and what acknowledges it. */
export interface Envelope {
  type: string;
  payload: unknown;
  acknowledge(): Promise<void>;
}

/** Why a link is gone: what Slack said of it (`refresh_requested`, `warning`, `link_disabled` …), or what broke. */
export interface LinkEnd {
  reason: string | undefined;
  error: Error | undefined;
}

/** A WebSocket that Slack has greeted. */
export interface Link {
  /** Never rejects. */
  ended: Promise<LinkEnd>;
  /** Links of the app that are open, as Slack counts them. */
  count: number;
  /** Resolves when it is gone. */
  close(): Promise<void>;
}

interface LinkOptions {
  account: SlackAccount;
  api: SlackApi;
  library: SlackLibrary;
  timing: SlackTiming;
  signal: AbortSignal;
  /** Called with each envelope, also before the link is returned. Must not throw. */
  onEnvelope(envelope: Envelope): void;
}

/** Largest message that is read: an event with its files and blocks has far less. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Opens one link by the library, which does not connect again by itself here. @throws as `SlackApi.call`; {Error} when Slack does not greet in time */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { account, api, library, timing, signal } = options;
  const sockets = new Set<Socket>();
  const dispatcher = new library.Agent({
    connect: rememberingConnector(library, sockets, timing.callMs),
    webSocket: { maxPayloadSize: MAX_MESSAGE_BYTES },
  });
  const heard: Heard = { reason: undefined, error: undefined, count: 1 };
  const client = new (guarded(library, heard, options.onEnvelope))({
    appToken: account.appToken ?? "",
    autoReconnectEnabled: false,
    clientPingTimeout: timing.pingMs,
    dispatcher,
    clientOptions: api.options,
    logger: silentLogger,
  });
  const destroy = () => {
    for (const socket of sockets) socket.destroy();
  };
  const gone = new Promise<void>((resolve) => {
    client.on("disconnected", () => resolve());
  }).then(() => {
    destroy();
    return dispatcher.destroy().catch(() => undefined);
  });
  client.on("error", (error: unknown) => {
    heard.error ??= api.faultOf((error as { original?: unknown }).original ?? error);
  });
  let isClosing = false;
  const close = async () => {
    if (!isClosing) {
      isClosing = true;
      void client.disconnect().catch(() => undefined);
      // The library waits half a minute for the other side to end the connection, which Slack does not do, and a dead one never does. Version 3.1.0 may lose sight of
      // that timer (mended in 3.1.1).
      clearTimeout(client.websocket?.closeHandshakeTimeout);
      const late = setTimeout(destroy, timing.closeMs);
      void gone.then(() => clearTimeout(late));
    }
    await withLimit(gone, { limitMs: timing.closeMs * 2 }).catch(() => undefined);
  };
  heard.onDisconnect = () => void close();
  try {
    await withLimit(client.start(), { limitMs: timing.callMs, signal });
  } catch (error) {
    await close();
    throw heard.error ?? (error === undefined ? new Error(endOf(heard.reason)) : api.faultOf(error));
  }
  const onAbort = () => void close();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    count: heard.count,
    close,
    ended: gone.then(() => {
      signal.removeEventListener("abort", onAbort);
      return { reason: heard.reason, error: heard.error };
    }),
  };
}

function endOf(reason: string | undefined): string {
  return reason === undefined ? "Slack closed the link before it greeted" : `Slack closed the link before it greeted: ${reason}`;
}

interface Heard {
  reason: string | undefined;
  error: Error | undefined;
  count: number;
  onDisconnect?(): void;
}

/**
 * The client of the library with each message checked before it is read: version 3.1.0 rejects without a handler, which ends a process, when a message is no object or
 * an event has no type; and emits events under names of its own (`close`, `error`).
 */
function guarded(library: SlackLibrary, heard: Heard, onEnvelope: LinkOptions["onEnvelope"]): SlackLibrary["SocketModeClient"] {
  return class extends library.SocketModeClient {
    override async onWebSocketMessage(data: unknown, isBinary: boolean): Promise<void> {
      const message = isBinary ? undefined : parsed(data);
      if (!message) return;
      if (message.type === "disconnect") {
        heard.reason = typeof message.reason === "string" ? message.reason.slice(0, 60) : "disconnect";
        return heard.onDisconnect?.();
      }
      if (message.type === "hello") {
        if (typeof message.num_connections === "number") heard.count = message.num_connections;
        return super.onWebSocketMessage(data, isBinary).catch(() => undefined);
      }
      const { envelope_id: id, type, payload } = message;
      if (typeof id === "string" && typeof type === "string") onEnvelope({ type, payload, acknowledge: () => this.send(id) });
    }
  };
}

function parsed(data: unknown): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(String(data));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Connects as the library does by itself, and keeps the socket, so that a dead one can be destroyed. */
function rememberingConnector(
  { buildConnector }: SlackLibrary,
  sockets: Set<Socket>,
  timeout: number,
): ReturnType<SlackLibrary["buildConnector"]> {
  const connect = buildConnector({ allowH2: false, timeout });
  return (options, done) =>
    connect(options, (error, socket) => {
      if (socket) {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
      }
      done(error, socket);
    });
}

async function withLimit<T>(work: Promise<T>, { limitMs, signal }: { limitMs: number; signal?: AbortSignal }): Promise<T> {
  let late: NodeJS.Timeout | undefined;
  let stop: () => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`Slack did not greet within ${limitMs / 1_000} s`)), limitMs);
    stop = () => reject(new Error(messageOf(signal?.reason)));
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, ended]).finally(() => {
    clearTimeout(late);
    signal?.removeEventListener("abort", stop);
  });
}
