import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

/** Headers of one hop; what is left of the request stands without them. */
const hopHeaders = new Set(["connection", "upgrade", "http2-settings"]);

/**
 * Serves a request as if it had asked for no upgrade, which is how a server says that it speaks no such protocol (RFC 9110 7.8). Some clients offer
 * HTTP/2 that way on every request, also on one with a body, so Node's parser has to read it once more.
 */
export function declineUpgrade(server: Server, req: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${req.method} ${req.url} HTTP/1.1`];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i] ?? "";
    if (!hopHeaders.has(name.toLowerCase())) lines.push(`${name}: ${req.rawHeaders[i + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`, "latin1"), head]));
  server.emit("encrypted" in socket ? "secureConnection" : "connection", socket);
}
