import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A bare TCP connection that never closes by itself, and what came back on it. */
export interface RawSocket {
  socket: Socket;
  write(data: string | Buffer): void;
  received(): string;
  /** The gateway has said its last word. */
  ended: Promise<unknown>;
  /** The connection is gone for good, the gateway's reset included. */
  closed: Promise<unknown>;
}

const open = new Set<Socket>();

/** For `afterEach`. */
export function closeRawSockets(): void {
  for (const socket of open) socket.destroy();
  open.clear();
}

export async function dial(port: number, host = "127.0.0.1"): Promise<RawSocket> {
  const socket = connect({ port, host, allowHalfOpen: true });
  open.add(socket);
  const chunks: string[] = [];
  socket.on("data", (chunk) => void chunks.push(chunk.toString("latin1")));
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const ended = Promise.race([new Promise((resolve) => socket.once("end", resolve)), closed]);
  await once(socket, "connect");
  return { socket, write: (data) => void socket.write(data), received: () => chunks.join(""), ended, closed };
}

/** One request as bytes; resolves with everything that came back until the gateway ended the connection. */
export async function sendRaw(port: number, request: string | Buffer, host?: string): Promise<string> {
  const { write, received, ended } = await dial(port, host);
  write(request);
  await ended;
  return received();
}

export const statusOf = (answer: string) => Number(answer.split(" ", 2)[1]);

/** Statuses of all answers on one connection. */
export const statusesOf = (answer: string) => [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]));

/** Value of a header, by its name in any case. */
export const headerOf = (answer: string, name: string) =>
  new RegExp(`^${name}: (.*?)\\r?$`, "im").exec(answer.split("\r\n\r\n", 1)[0] ?? "")?.[1];

/** Body of the one answer on a connection; chunks joined. */
export function bodyOf(answer: string): string {
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  if (headerOf(answer, "transfer-encoding") !== "chunked") return body;
  let text = "";
  for (let at = 0; ; ) {
    const line = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.slice(at, line), 16);
    if (line < 0 || !size) return text;
    text += body.slice(line + 2, line + 2 + size);
    at = line + 4 + size;
  }
}

export const upgradeRequest = (path: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers}\r\n`;
