import { AccountRefusedError, isRecord } from "svc/sdk";
import type { GatewaySocket, SocketLibrary } from "./library.ts";
import type { DiscordTiming } from "./timing.ts";
import { type Frame, OPCODES } from "./wire.ts";

/** Largest frame that is read: a server with all its channels and threads has less. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Closing with it keeps the session; 1000 and 1001 end it (discord.com/developers/docs/events/gateway#initiating-a-disconnect). */
const KEEP_SESSION = 4_200;

/** Session of the gateway that can be taken up again. */
export interface Resumable {
  id: string;
  /** Place up to which everything is stored. */
  seq: number;
}

interface LinkOptions {
  sockets: SocketLibrary;
  url: string;
  token: string;
  intents: number;
  timing: DiscordTiming;
  signal: AbortSignal;
  random(): number;
  /** Undefined: a session begins. */
  session: Resumable | undefined;
  /** Place that a heartbeat names: up to it everything is stored. */
  storedSeq(): number | null;
  onDispatch(kind: string, data: unknown, seq: number): void;
  /** Discord does not take the session up again. */
  onSessionLost(): void;
  onAlive(): void;
}

/** Reasons of closing that no further try changes (discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes). */
const REFUSALS: Readonly<Record<number, string>> = {
  4004: "Discord refuses the token: reset it on the page Bot of the Developer Portal, and set the new one",
  4010: "Discord refuses the shard of this connection",
  4011: "the bot is in more servers than one connection may have, and this release does not use several",
  4012: "Discord does not speak version 10 of the gateway any more",
  4013: "Discord does not know the intents",
  4014: "Discord does not let the bot read messages: turn on Message Content Intent on the page Bot of the Developer Portal, or set messageContent to false",
};
/** Not authenticated, an invalid sequence, a session that timed out; and the codes that end one. */
const SESSION_ENDS = new Set([1_000, 1_001, 4_003, 4_007, 4_009]);

/**
 * One connection to the gateway, from HELLO to its end. It is written here and not taken from discord.js, because an event counts as taken only when the host has
 * stored it, and because waits, limits and the end are the host's (ADR 65).
 */
export class GatewayLink {
  /** Resolves with the reason when the connection is gone; undefined when it was closed from here. */
  readonly closed: Promise<Error | undefined>;
  readonly #options: LinkOptions;
  readonly #socket: GatewaySocket;
  #end: (reason: Error | undefined) => void = () => undefined;
  #isOver = false;
  #isAcknowledged = true;
  #isPaused = false;
  #timers: NodeJS.Timeout[] = [];
  #setupTimer: NodeJS.Timeout | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { sockets, url, signal, timing } = options;
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#socket = new sockets.WebSocket(url, {
      handshakeTimeout: timing.helloMs,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    this.#socket.on("message", (data, isBinary) => {
      if (!isBinary) this.#read(data);
    });
    this.#socket.on("error", (error) => this.#fail(new Error(`the gateway of Discord cannot be used: ${error.message}`)));
    this.#socket.on("close", (code) => this.#onClose(code));
    this.#limitSetup("HELLO");
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  /** Ends the connection with a reason. */
  fail(reason: Error): void {
    this.#fail(reason);
  }

  /** Stops and resumes reading. */
  pause(): void {
    if (this.#isOver) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (this.#isOver) return;
    this.#isPaused = false;
    // Answers that came meanwhile are read first.
    this.#isAcknowledged = true;
    this.#socket.resume();
  }

  #read(data: Buffer): void {
    if (this.#isOver) return;
    let frame: unknown;
    try {
      frame = JSON.parse(data.toString());
    } catch {
      return this.#fail(new Error("the gateway has sent what is no JSON"));
    }
    if (!isRecord(frame) || typeof frame.op !== "number") return this.#fail(new Error("the gateway has sent what is no frame"));
    this.#take(frame as unknown as Frame);
  }

  #take({ op, d, s, t }: Frame): void {
    const { onDispatch, onSessionLost, onAlive } = this.#options;
    if (op === OPCODES.hello) return this.#greet(d);
    if (op === OPCODES.heartbeat) return this.#beat();
    if (op === OPCODES.heartbeatAck) {
      this.#isAcknowledged = true;
      return onAlive();
    }
    if (op === OPCODES.reconnect) return this.#fail(new Error("Discord asks to connect again"));
    if (op === OPCODES.invalidSession) {
      if (d !== true) onSessionLost();
      return this.#fail(new Error("Discord does not take up the session again"));
    }
    if (op !== OPCODES.dispatch || typeof t !== "string" || typeof s !== "number") return;
    if (t === "READY" || t === "RESUMED") clearTimeout(this.#setupTimer);
    onDispatch(t, d, s);
  }

  #greet(d: unknown): void {
    const interval = isRecord(d) && typeof d.heartbeat_interval === "number" ? d.heartbeat_interval : Number.NaN;
    if (!(interval >= 10 && interval <= 3_600_000)) return this.#fail(new Error("the gateway names no interval for heartbeats"));
    if (this.#timers.length > 0) return;
    this.#limitSetup("READY");
    // The first one comes at a random time, so that not all bots beat at once.
    const first = setTimeout(() => {
      this.#beatOrFail();
      if (!this.#isOver) this.#timers.push(setInterval(() => this.#beatOrFail(), interval));
    }, interval * this.#options.random());
    this.#timers.push(first);
    const { token, intents, session } = this.#options;
    if (session) return this.#send({ op: OPCODES.resume, d: { token, session_id: session.id, seq: session.seq } });
    this.#send({
      op: OPCODES.identify,
      d: { token, intents, properties: { os: process.platform, browser: "svc", device: "svc" }, compress: false, shard: [0, 1] },
    });
  }

  #beatOrFail(): void {
    // While nothing is read, no answer is seen either.
    if (!this.#isAcknowledged && !this.#isPaused) return this.#fail(new Error("Discord has not answered a heartbeat"));
    this.#isAcknowledged = false;
    this.#beat();
  }

  #beat(): void {
    this.#send({ op: OPCODES.heartbeat, d: this.#options.storedSeq() });
  }

  #send(frame: Frame): void {
    if (!this.#isOver) this.#socket.send(JSON.stringify(frame), () => undefined);
  }

  #limitSetup(what: string): void {
    clearTimeout(this.#setupTimer);
    const { helloMs } = this.#options.timing;
    this.#setupTimer = setTimeout(() => {
      // Missed events come before RESUMED, and are not read while too many wait.
      if (this.#isPaused) this.#limitSetup(what);
      else this.#fail(new Error(`the gateway has not sent ${what} within ${helloMs / 1_000} s`));
    }, helloMs);
  }

  #onClose(code: number): void {
    const refusal = REFUSALS[code];
    if (SESSION_ENDS.has(code) && !this.#isOver) this.#options.onSessionLost();
    this.#finish(refusal === undefined ? new Error(`Discord has closed the connection (${code})`) : new AccountRefusedError(refusal));
  }

  readonly #onAbort = () => {
    if (this.#finish(undefined)) this.#close();
  };

  #fail(reason: Error): void {
    if (this.#finish(reason)) this.#close();
  }

  /** Closes the socket so that the session can be taken up again; cuts it when the other side does not answer, or is not read. */
  #close(): void {
    if (this.#isPaused) return this.#socket.terminate();
    const late = setTimeout(() => this.#socket.terminate(), this.#options.timing.closeMs);
    this.#socket.on("close", () => clearTimeout(late));
    this.#socket.close(KEEP_SESSION);
  }

  /** False when it was over already. */
  #finish(reason: Error | undefined): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#setupTimer);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    this.#end(reason);
    return true;
  }
}
