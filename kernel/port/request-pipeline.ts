import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { sentBytes } from "./fanout/sent-bytes.ts";
import type { OutboundAccount, OutboundSocket, SlowConsumers } from "./fanout/slow-consumers.ts";
import { lingerAfterAnswer, stopReading } from "./linger.ts";

/**
 * Number of requests that wait on one connection before it is not read any more. The piece that was read last comes on top: 64 KiB hold up to
 * 2,600 requests. Below this number a client that goes away is noticed at once, which takes a connection that is read.
 */
const MAX_WAITING_READ = 16;
/** Number of requests that may wait on all connections together, a few kilobytes each. */
const MAX_WAITING_TOTAL = 10_000;

/** Serves HTTP connections one request at a time. */
export interface RequestPipeline {
  /**
   * Listener for `request` and the like.
   * @param handler instead of the one that serves all others
   */
  handle(req: IncomingMessage, res: ServerResponse, handler?: RequestListener): void;
  /**
   * Forgets a connection that is about to speak another protocol.
   * @returns false when it has unanswered requests, whose answers would be mixed with that protocol
   */
  release(socket: Duplex): boolean;
  /**
   * Says the last word on a connection on which nothing more can be read: at once, or after the requests that came whole before have been answered. They
   * may have been carried out, and must not get the answer of what follows them.
   */
  breakOff(socket: Duplex, lastWord: () => void): void;
}

interface Pending {
  req: IncomingMessage;
  res: ServerResponse;
  handler: RequestListener;
}

interface Shared {
  readonly outbound: SlowConsumers;
  readonly maxWaiting: number;
  readonly connections: WeakMap<Duplex, HttpConnection>;
  waiting: number;
}

/**
 * Bounds what a client can make the gateway hold by pipelining requests (RFC 9112 9.3.2) or by not reading answers. A request begins when the answer before
 * it has been handed to the system; a connection on which requests wait is not read; one that brings a request while `maxWaiting` wait elsewhere is closed. What is
 * unsent of an answer counts in `outbound`, which closes connections that take nothing.
 */
export function createRequestPipeline(options: {
  handler: RequestListener;
  outbound: SlowConsumers;
  maxWaiting?: number;
}): RequestPipeline {
  const { outbound, maxWaiting = MAX_WAITING_TOTAL } = options;
  const connections = new WeakMap<Duplex, HttpConnection>();
  const shared: Shared = { outbound, maxWaiting, connections, waiting: 0 };
  return {
    handle(req, res, handler = options.handler) {
      const connection = connections.get(req.socket) ?? new HttpConnection(req.socket, shared);
      connection.arrived({ req, res, handler });
    },
    release: (socket) => connections.get(socket)?.release() ?? true,
    breakOff(socket, lastWord) {
      if (!connections.get(socket)?.breakOff(lastWord)) lastWord();
    },
  };
}

/** One connection: the request that is being served, and those behind it in order of arrival. */
class HttpConnection implements OutboundSocket {
  readonly #socket: Duplex;
  readonly #shared: Shared;
  readonly #account: OutboundAccount;
  #current: ServerResponse | undefined;
  #queue: Pending[] = [];
  /** Index of the first request that waits. */
  #head = 0;
  #isHeld = false;
  /** The request that arrived last. */
  #latest: IncomingMessage | undefined;
  /** Said after all answers; nothing more is read once it is there. */
  #lastWord: (() => void) | undefined;

  constructor(socket: Duplex, shared: Shared) {
    this.#socket = socket;
    this.#shared = shared;
    this.#account = shared.outbound.watch(this, 0);
    shared.connections.set(socket, this);
    // Node reads on whenever a long answer has drained.
    socket.on("resume", this.#keepHeld);
    socket.once("close", this.#forget);
  }

  arrived(pending: Pending): void {
    this.#latest = pending.req;
    if (!this.#current) return this.#serve(pending);
    if (this.#shared.waiting >= this.#shared.maxWaiting) return this.cut();
    this.#shared.waiting += 1;
    this.#queue.push(pending);
    if (this.#waiting() >= MAX_WAITING_READ && !this.#isHeld) {
      this.#isHeld = true;
      this.#socket.pause();
    }
  }

  release(): boolean {
    if (this.#current) return false;
    this.#socket.off("resume", this.#keepHeld).off("close", this.#forget);
    this.#forget();
    return true;
  }

  /** @returns false when nobody's answer is due, or the fault is in the body of the request that is being served */
  breakOff(lastWord: () => void): boolean {
    if (this.#lastWord) return true;
    if (!this.#current || !this.#socket.writable) return false;
    if (!this.#latest?.complete && !this.#forgetLatest()) return false;
    this.#lastWord = lastWord;
    stopReading(this.#socket);
    // Bytes that are not read any more would reset the connection under an answer that ends it.
    lingerAfterAnswer(this.#socket);
    return true;
  }

  buffered(): number {
    return this.#current?.writableLength ?? this.#socket.writableLength;
  }

  progress(): number {
    return sentBytes(this.#socket);
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** @returns false when it does not wait any more */
  #forgetLatest(): boolean {
    if (this.#waiting() === 0) return false;
    this.#queue.pop();
    this.#shared.waiting -= 1;
    return true;
  }

  #waiting(): number {
    return this.#queue.length - this.#head;
  }

  #serve({ req, res, handler }: Pending): void {
    this.#current = res;
    res.on("prefinish", this.#account.wrote);
    res.on("close", this.#answered);
    handler(req, res);
  }

  readonly #answered = (): void => {
    this.#current = undefined;
    if (this.#waiting() === 0) {
      if (this.#socket.writable) this.#lastWord?.();
      return;
    }
    const next = this.#queue[this.#head] as Pending;
    this.#head += 1;
    this.#shared.waiting -= 1;
    // Its place is taken at once, so that no later request overtakes it; other connections come first all the same.
    this.#current = next.res;
    setImmediate(() => {
      if (this.#socket.writable) this.#serve(next);
    });
    if (this.#waiting() === 0) {
      this.#queue = [];
      this.#head = 0;
    }
    if (this.#isHeld && this.#waiting() < MAX_WAITING_READ) {
      this.#isHeld = false;
      this.#socket.resume();
    }
  };

  readonly #keepHeld = (): void => {
    if (this.#isHeld) this.#socket.pause();
  };

  readonly #forget = (): void => {
    this.#shared.waiting -= this.#waiting();
    this.#queue = [];
    this.#head = 0;
    this.#account.remove();
    this.#shared.connections.delete(this.#socket);
  };
}
