import { connect, type Socket } from "node:net";
import { isRecord, messageOf, NotDispatchedError, oneLine, printableLine } from "svc/sdk";
import type { Endpoint } from "./accounts.ts";
import type { SignalTiming } from "./timing.ts";

/** Longest line that is read: an attachment of 8 MiB in base64, and room for its frame. A longer one ends the link. */
export const MAX_LINE_BYTES = 12 * 1024 * 1024;
/** Requests under way at a time. */
const MAX_WAITING = 256;

/** Error that the daemon answered with. Its words are those of the daemon, made safe for a log. */
export class DaemonError extends Error {
  readonly code: number;
  /** Results per recipient, where a message was sent in part or not at all. */
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(oneLine(printableLine(message), 200));
    this.name = "DaemonError";
    this.code = code;
    this.data = data;
  }
}

/** JSON-RPC over one link: a JSON object in each line, both ways. */
export interface RpcLink {
  /**
   * Calls a method of the daemon.
   * @param limitMs time for its answer; default `answerMs`
   * @throws `NotDispatchedError` when nothing has left the process, {@link DaemonError} when the daemon refused; any other error leaves open what it did
   */
  request(method: string, params: object, limitMs?: number): Promise<unknown>;
  /** Stops and resumes reading: the daemon waits with what is not read. */
  pause(): void;
  resume(): void;
  close(): void;
  /** Resolves when the link is gone, with the reason unless it was closed from here. */
  readonly ended: Promise<Error | undefined>;
}

interface RpcLinkOptions {
  endpoint: Endpoint;
  timing: SignalTiming;
  /** Closes the link. */
  signal: AbortSignal;
  /** Called for each notification, in order. A throw ends the link. */
  onNotification(method: string, params: unknown): void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Connects to the daemon. @throws {Error} when there is no link in time */
export async function openRpcLink({ endpoint, timing, signal, onNotification }: RpcLinkOptions): Promise<RpcLink> {
  signal.throwIfAborted();
  const socket = connect(endpoint);
  let isClosing = false;
  const ended = new Promise<Error | undefined>((resolve) => {
    socket.once("close", () => resolve(isClosing ? undefined : (socket.errored ?? new Error("the daemon closed the link"))));
  });
  const close = () => {
    isClosing = true;
    socket.destroy();
  };
  signal.addEventListener("abort", close, { once: true });
  // `ended` has the error; without a listener it would end the process.
  socket.on("error", () => undefined);
  socket.setNoDelay(true);
  const waiting = new Map<string, Waiting>();
  let count = 0;
  const request = (method: string, params: object, limitMs = timing.answerMs) =>
    new Promise<unknown>((resolve, reject) => {
      if (isClosing || !socket.writable) return reject(new NotDispatchedError("there is no link to the daemon"));
      if (waiting.size >= MAX_WAITING) return reject(new NotDispatchedError("too many requests wait for the daemon"));
      const id = `svc-${++count}`;
      const late = setTimeout(() => settle(reject)(new Error(`the daemon has not answered ${method} in time`)), limitMs);
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          clearTimeout(late);
          waiting.delete(id);
          then(value);
        };
      waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
      socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  void ended.then((reason) => {
    signal.removeEventListener("abort", close);
    for (const one of waiting.values()) one.reject(reason ?? new Error("the link was closed before the daemon answered"));
  });
  await connected(socket, timing.connectMs, ended);
  const heard = watchAlive(socket, timing, () => void request("version", {}).catch(() => undefined));
  readLines(socket, heard, (line) => take(line, waiting, onNotification));
  return { request, close, ended, pause: () => void socket.pause(), resume: () => void socket.resume() };
}

function take(line: string, waiting: ReadonlyMap<string, Waiting>, onNotification: RpcLinkOptions["onNotification"]): void {
  const message: unknown = JSON.parse(line);
  if (!isRecord(message)) throw new Error("the daemon sent a line that is no JSON object");
  if (typeof message.method === "string") return onNotification(message.method, message.params);
  const one = typeof message.id === "string" ? waiting.get(message.id) : undefined;
  if (isRecord(message.error)) {
    const { code, message: words, data } = message.error;
    one?.reject(new DaemonError(typeof code === "number" ? code : 0, String(words), data));
  } else one?.resolve(message.result);
}

async function connected(socket: Socket, limitMs: number, ended: Promise<Error | undefined>): Promise<void> {
  const late = setTimeout(() => socket.destroy(new Error(`no connection within ${limitMs / 1_000} s`)), limitMs);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      void ended.then((reason) => reject(reason ?? new Error("the link was closed before it stood")));
    });
  } finally {
    clearTimeout(late);
  }
}

/** Asks a silent daemon whether it is there, and ends a link on which nothing comes back. @returns to be called with each packet */
function watchAlive(socket: Socket, { pingMs, pongMs }: SignalTiming, ask: () => void): () => void {
  let heardAt = performance.now();
  let isAsked = false;
  const timer = setInterval(
    () => {
      const silentMs = performance.now() - heardAt;
      if (socket.isPaused()) heardAt = performance.now();
      else if (silentMs > pingMs + pongMs) socket.destroy(new Error(`the daemon has not answered for ${Math.round(silentMs / 1_000)} s`));
      else if (silentMs > pingMs && !isAsked) {
        isAsked = true;
        ask();
      }
    },
    Math.max(10, Math.min(pingMs, pongMs) / 4),
  );
  socket.once("close", () => clearInterval(timer));
  return () => {
    heardAt = performance.now();
    isAsked = false;
  };
}

/** Takes the stream apart at its line ends, wherever the packets are cut. */
function readLines(socket: Socket, heard: () => void, onLine: (line: string) => void): void {
  let parts: Buffer[] = [];
  let bytes = 0;
  const grow = (count: number) => {
    bytes += count;
    if (bytes > MAX_LINE_BYTES) throw new Error(`a line of the daemon is longer than ${MAX_LINE_BYTES} bytes`);
  };
  socket.on("data", (packet: Buffer) => {
    heard();
    try {
      let from = 0;
      for (let at = packet.indexOf(10); at >= 0 && !socket.destroyed; at = packet.indexOf(10, from)) {
        grow(at - from);
        const line = Buffer.concat([...parts, packet.subarray(from, at)]).toString("utf8");
        [parts, bytes, from] = [[], 0, at + 1];
        if (line.trim() !== "") onLine(line);
      }
      if (from < packet.length) parts.push(packet.subarray(from));
      grow(packet.length - from);
    } catch (error) {
      socket.destroy(error instanceof SyntaxError ? new Error("the daemon sent a line that is no JSON") : new Error(messageOf(error)));
    }
  });
}
