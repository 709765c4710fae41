import { isIP, connect as netConnect, type Socket } from "node:net";
import { type ConnectionOptions, connect as tlsConnect } from "node:tls";
import { messageOf, tlsOptions } from "svc/sdk";
import type { TlsSettings, XmppAccount } from "./accounts.ts";
import type { Server } from "./servers.ts";

/** Bytes that wait to be sent: a server that reads nothing any more is given up. */
const MAX_WAITING_BYTES = 4_194_304;
/** Time for the last bytes to leave when the link is closed in order. */
const CLOSE_MS = 1_000;

/** One link to a server. */
export interface Wire {
  readonly isEncrypted: boolean;
  /** When something was heard last, by `performance.now()`. */
  readonly heardAt: number;
  /** @returns false when the link is gone: nothing has left the process */
  send(text: string): boolean;
  /** Encrypts the link from here on (STARTTLS); what was read before and not understood yet is dropped. @throws {Error} for a certificate that is not trusted */
  encrypt(): Promise<void>;
  /** Stops and resumes reading: what is not read waits at the server. */
  pause(): void;
  resume(): void;
  readonly isPaused: boolean;
  /** Sends the last words, and closes within a second. */
  close(last: string): void;
  destroy(reason: Error): void;
  /** Resolves when the link is gone, with the reason unless it was closed from here. */
  readonly ended: Promise<Error | undefined>;
}

interface WireOptions {
  server: Server;
  account: Pick<XmppAccount, "domain" | "tls">;
  connectMs: number;
  /** Ends the dialling. */
  signal: AbortSignal;
  /** Called for each piece of text, in order; characters are never cut. A throw ends the link. */
  onText(text: string): void;
}

/**
 * Dials, and checks the server's certificate where TLS comes first.
 * @throws {Error} when there is no link in time; nothing was sent then
 */
export async function openWire({ server, account, connectMs, signal, onText }: WireOptions): Promise<Wire> {
  const { host, port, direct } = server;
  const secure = account.tls && (await tlsFor(account.tls, account.domain));
  signal.throwIfAborted();
  const wire = new SocketWire(onText, secure, connectMs);
  const abort = () => wire.close("");
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (direct && secure) await wire.use(tlsConnect({ port, ...secure, host, ALPNProtocols: ["xmpp-client"] }), "secureConnect");
    else await wire.use(netConnect({ host, port }), "connect");
  } finally {
    signal.removeEventListener("abort", abort);
  }
  return wire;
}

class SocketWire implements Wire {
  readonly ended: Promise<Error | undefined>;
  readonly #onText: (text: string) => void;
  readonly #secure: ConnectionOptions | undefined;
  readonly #connectMs: number;
  #end: (reason: Error | undefined) => void = () => undefined;
  #socket: Socket | undefined;
  #decoder = new TextDecoder("utf-8");
  #fault: Error | undefined;
  #isClosing = false;
  isEncrypted = false;
  heardAt = performance.now();

  constructor(onText: (text: string) => void, secure: ConnectionOptions | undefined, connectMs: number) {
    this.#onText = onText;
    this.#secure = secure;
    this.#connectMs = connectMs;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Takes a socket that is being connected, and waits until it is. */
  async use(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
    this.#socket = socket;
    socket.setNoDelay(true);
    // Without a listener an error would end the process.
    socket.on("error", (error) => (this.#fault ??= error));
    socket.on("close", () => this.#end(this.#fault ?? (this.#isClosing ? undefined : new Error("the server closed the link"))));
    socket.on("data", (packet: Buffer) => this.#read(socket, packet));
    const late = setTimeout(() => this.destroy(new Error(`no connection within ${this.#connectMs / 1_000} s`)), this.#connectMs);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once(event, resolve);
        void this.ended.then((reason) => reject(reason ?? new Error("the link was closed before it stood")));
      });
    } finally {
      clearTimeout(late);
    }
    this.isEncrypted = event === "secureConnect";
  }

  #read(socket: Socket, packet: Buffer): void {
    if (socket !== this.#socket || this.#isClosing) return;
    this.heardAt = performance.now();
    try {
      this.#onText(this.#decoder.decode(packet, { stream: true }));
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  send(text: string): boolean {
    const socket = this.#socket;
    if (this.#isClosing || !socket?.writable) return false;
    socket.write(text);
    if (socket.writableLength > MAX_WAITING_BYTES) this.destroy(new Error("the server does not read what it is sent"));
    return true;
  }

  async encrypt(): Promise<void> {
    const socket = this.#socket;
    if (!socket || !this.#secure) throw new Error("there is nothing to encrypt");
    socket.removeAllListeners("data");
    this.#decoder = new TextDecoder("utf-8");
    await this.use(tlsConnect({ socket, ...this.#secure }), "secureConnect");
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.heardAt = performance.now();
    this.#socket?.resume();
  }

  get isPaused(): boolean {
    return this.#socket?.isPaused() ?? false;
  }

  close(last: string): void {
    if (this.#isClosing) return;
    const socket = this.#socket;
    this.#isClosing = true;
    if (socket?.writable && !socket.connecting) socket.end(last);
    else socket?.destroy();
    // Bytes that nobody reads would hold the end of the link back.
    socket?.resume();
    const late = setTimeout(() => socket?.destroy(), CLOSE_MS);
    void this.ended.then(() => clearTimeout(late));
  }

  destroy(reason: Error): void {
    this.#fault ??= reason;
    this.#socket?.destroy();
  }
}

/** The certificate is that of the domain, whichever machine serves it (RFC 6120, 13.7.2). */
async function tlsFor(tls: TlsSettings, domain: string): Promise<ConnectionOptions> {
  const name = tls.serverName ?? domain;
  return { ...(await tlsOptions(tls, domain)), ...(isIP(name) ? { host: name } : {}) };
}
