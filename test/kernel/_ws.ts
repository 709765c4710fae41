import { once } from "node:events";
import type { TestGateway } from "svc/sdk/testing";
import WebSocket from "ws";
import { createFrameCheck } from "../../sdk/testing/wire-check.ts";

// biome-ignore lint/suspicious/noExplicitAny: frames are looked at as they come
export type Frame = any;

/** A bare socket that keeps every frame, so that tests see exactly what is on the wire. */
export class BareSocket {
  readonly frames: Frame[] = [];
  readonly ws: WebSocket;
  closed: { code: number; reason: string } | undefined;
  readonly #check = createFrameCheck();
  #waiting: Array<{ match: (frame: Frame) => boolean; resolve: (frame: Frame) => void }> = [];

  constructor(url: string, options: WebSocket.ClientOptions = {}) {
    this.ws = new WebSocket(url, options);
    this.ws.setMaxListeners(0); // each frame that is waited for listens for the end too
    this.ws.on("error", () => undefined);
    this.ws.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString());
      this.#check.received(frame);
      this.frames.push(frame);
      this.#waiting = this.#waiting.filter((w) => {
        if (!w.match(frame)) return true;
        w.resolve(frame);
        return false;
      });
    });
    this.ws.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
  }

  send(value: unknown): void {
    this.#check.sent(value);
    this.ws.send(typeof value === "string" || Buffer.isBuffer(value) ? value : JSON.stringify(value));
  }

  /** The first frame that matches, already here or to come. */
  async frame(match: (frame: Frame) => boolean): Promise<Frame> {
    const known = this.frames.find(match);
    if (known) return known;
    if (this.closed) throw new Error(`closed ${this.closed.code} ${this.closed.reason}`);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ match, resolve });
      this.ws.once("close", (code, reason) => reject(new Error(`closed ${code} ${reason}`)));
    });
  }

  async request(id: string, method: string, params?: unknown): Promise<Frame> {
    this.send({ type: "req", id, method, ...(params === undefined ? {} : { params }) });
    return this.frame((f) => f.id === id);
  }

  async close(): Promise<{ code: number; reason: string }> {
    if (!this.closed) {
      const over = once(this.ws, "close");
      if (this.ws.readyState < WebSocket.CLOSING) this.ws.close();
      await over;
    }
    return this.closed as { code: number; reason: string };
  }

  /** Waits for the server to close. */
  async end(): Promise<{ code: number; reason: string }> {
    if (!this.closed) await once(this.ws, "close");
    return this.closed as { code: number; reason: string };
  }
}

export const allScopes = ["operator.admin", "operator.read", "operator.write"];

/** Params of a `connect` that is accepted; `change` overrides top-level fields. */
export function connectParams(token: string, change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    minProtocol: 4,
    maxProtocol: 4,
    client: { id: "gateway-client", version: "1.0.0", platform: "test", mode: "backend" },
    scopes: allScopes,
    auth: { token },
    ...change,
  };
}

/** A socket that has its challenge. */
export async function challenged(
  gateway: Pick<TestGateway, "wsUrl">,
  headers: Record<string, string | string[]> = {},
  options: WebSocket.ClientOptions = {},
): Promise<BareSocket> {
  const socket = new BareSocket(gateway.wsUrl, { headers: headers as Record<string, string>, ...options });
  await socket.frame((f) => f.event === "connect.challenge");
  return socket;
}

/** A socket that has its hello-ok. */
export async function connected(gateway: TestGateway, change: Record<string, unknown> = {}): Promise<BareSocket & { hello: Frame }> {
  const socket = await challenged(gateway);
  const res = await socket.request("connect", "connect", connectParams(gateway.token, change));
  if (!res.ok) throw new Error(res.error.message);
  return Object.assign(socket, { hello: res.payload });
}
