import { connect as netConnect, type Socket } from "node:net";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { messageOf, tlsOptions } from "svc/sdk";
import type { IrcAccount } from "./accounts.ts";
import type { IrcTiming } from "./timing.ts";

/** Longest line that is read: 8,191 bytes of tags, a line, and room for servers that count otherwise. A longer one ends the link. */
const MAX_READ_BYTES = 16_384;
/** Token of the pings that only ask whether the server is there. */
export const ALIVE = "svc-alive";
/** Time for the last line to leave when the link is closed in order. */
const QUIT_MS = 1_000;

/** One link to a server, read and written by lines. */
export interface Wire {
  /** Writes a line without its end. @returns false when the link is gone: nothing has left the process */
  send(line: string): boolean;
  /** Stops and resumes reading: what is not read waits at the server. */
  pause(): void;
  resume(): void;
  /** Says goodbye, and closes within a second. */
  quit(): void;
  destroy(reason: Error): void;
  /** Resolves when the link is gone, with the reason unless it was closed from here. */
  readonly ended: Promise<Error | undefined>;
}

interface WireOptions {
  account: Pick<IrcAccount, "host" | "port" | "tls">;
  timing: IrcTiming;
  /** Closes the link. */
  signal: AbortSignal;
  /** Called when the link stands, before its first byte is read. */
  onOpen(wire: Wire): void;
  /** Called for each line, in order. A throw ends the link. */
  onLine(line: string, wire: Wire): void;
}

/**
 * Dials, and checks the server's certificate.
 * @throws {Error} when there is no link in time; nothing was sent then
 */
export async function openWire({ account, timing, signal, onOpen, onLine }: WireOptions): Promise<Wire> {
  const { host, port, tls } = account;
  // A pinned certificate needs no authority; it is compared before anything is sent.
  const secure = tls && { ...(await tlsOptions(tls, host)), rejectUnauthorized: !tls.fingerprints?.length };
  signal.throwIfAborted();
  const socket = secure ? tlsConnect({ host, port, ...secure }) : netConnect({ host, port });
  let closing = false;
  const ended = new Promise<Error | undefined>((resolve) => {
    socket.once("close", () => resolve(socket.errored ?? (closing ? undefined : new Error("the server closed the link"))));
  });
  const quit = () => {
    if (closing) return;
    closing = true;
    if (socket.writable && !socket.connecting) socket.end("QUIT\r\n");
    else socket.destroy();
    const late = setTimeout(() => socket.destroy(), QUIT_MS);
    void ended.then(() => clearTimeout(late));
  };
  signal.addEventListener("abort", quit, { once: true });
  void ended.then(() => signal.removeEventListener("abort", quit));
  // `ended` has the error; without a listener it would end the process.
  socket.on("error", () => undefined);
  socket.setNoDelay(true);
  await connected(socket, secure ? "secureConnect" : "connect", timing.connectMs, ended);
  if (tls?.fingerprints?.length) checkFingerprint(socket as TLSSocket, tls.fingerprints);
  const wire: Wire = {
    ended,
    quit,
    send: (line) => {
      if (closing || !socket.writable) return false;
      socket.write(`${line}\r\n`);
      return true;
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy: (reason) => void socket.destroy(reason),
  };
  onOpen(wire);
  readLines(socket, watchAlive(socket, timing), (line) => onLine(line, wire));
  return wire;
}

function checkFingerprint(socket: TLSSocket, accepted: readonly string[]): void {
  const plain = (text: string) => text.replaceAll(":", "").toLowerCase();
  const shown = socket.getPeerCertificate().fingerprint256 ?? "";
  if (accepted.some((one) => plain(one) === plain(shown))) return;
  const error = new Error(`the server's certificate has the fingerprint ${shown}, which is none of tls.fingerprints`);
  socket.destroy(error);
  throw error;
}

async function connected(
  socket: Socket,
  event: "connect" | "secureConnect",
  limitMs: number,
  ended: Promise<Error | undefined>,
): Promise<void> {
  const late = setTimeout(() => socket.destroy(new Error(`no connection within ${limitMs / 1_000} s`)), limitMs);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(event, resolve);
      void ended.then((reason) => reject(reason ?? new Error("the link was closed before it stood")));
    });
  } finally {
    clearTimeout(late);
  }
}

/** Asks a silent server whether it is there, and ends a link on which nothing comes back: TCP alone notices that after minutes, or never. */
function watchAlive(socket: Socket, { pingMs, pongMs }: IrcTiming): () => void {
  let heardAt = performance.now();
  let asked = false;
  const timer = setInterval(
    () => {
      const silentMs = performance.now() - heardAt;
      if (socket.isPaused()) heardAt = performance.now();
      else if (silentMs > pingMs + pongMs) socket.destroy(new Error(`the server has not answered for ${Math.round(silentMs / 1_000)} s`));
      else if (silentMs > pingMs && !asked && socket.writable) asked = socket.write(`PING ${ALIVE}\r\n`) || true;
    },
    Math.max(10, Math.min(pingMs, pongMs) / 4),
  );
  socket.once("close", () => clearInterval(timer));
  return () => {
    heardAt = performance.now();
    asked = false;
  };
}

/** Takes the stream apart at its line ends, wherever the packets are cut. */
function readLines(socket: Socket, heard: () => void, onLine: (line: string) => void): void {
  let parts: Buffer[] = [];
  let bytes = 0;
  const grow = (count: number) => {
    bytes += count;
    if (bytes > MAX_READ_BYTES) throw new Error(`a line of the server is longer than ${MAX_READ_BYTES} bytes`);
  };
  const take = (end: Buffer) => {
    grow(end.length);
    const line = decode(Buffer.concat([...parts, end]));
    parts = [];
    bytes = 0;
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text !== "") onLine(text);
  };
  socket.on("data", (packet: Buffer) => {
    heard();
    try {
      let from = 0;
      for (let at = packet.indexOf(10); at >= 0 && !socket.destroyed; at = packet.indexOf(10, from)) {
        take(packet.subarray(from, at));
        from = at + 1;
      }
      if (from < packet.length) parts.push(packet.subarray(from));
      grow(packet.length - from);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(messageOf(error)));
    }
  });
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Old clients write Latin-1: what is not UTF-8 is read as that. */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
}
