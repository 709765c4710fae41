import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ServerOptions, WebSocketServer } from "ws";
import { limits } from "../../sdk/protocol/frames.ts";
import { addressBucket, hasForwardingHeader, remoteOf } from "../auth/remote.ts";
import { Connection, type ConnectionDeps } from "./connection.ts";

export interface Sockets {
  /** Listener for the server's `upgrade` event. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  connections(): Iterable<Connection>;
  /** Close frame to all; whoever is left after `graceMs` is destroyed. */
  closeAll(options: { code: number; reason: string; graceMs: number }): Promise<void>;
}

interface SocketsDeps extends ConnectionDeps {
  /** Paths that take an upgrade. */
  paths: ReadonlySet<string>;
  isHostKnown(req: IncomingMessage): boolean;
}

/** Connections of all kinds at a time (`security.md` 2). */
const MAX_OPEN = 12_000;

/** Control connections: who may upgrade, the budget of silent sockets, and the list of all that are open. */
export function createSockets(deps: SocketsDeps): Sockets {
  // closeTimeout: a peer that never answers the close frame is destroyed after 2 s (`security.md` N-06); @types/ws 8.18 lacks it.
  const options = { noServer: true, maxPayload: limits.maxPreauthPayload, perMessageDeflate: false, closeTimeout: 2_000 };
  const server = new WebSocketServer(options as ServerOptions);
  const open = new Map<Connection, string>();

  return {
    upgrade(req, socket, head) {
      socket.on("error", () => socket.destroy());
      const status = open.size < MAX_OPEN ? refusal(req, deps) : 503;
      if (status) return refuse(socket, status);
      server.handleUpgrade(req, socket, head, (ws) => {
        const bucket = addressBucket(remoteOf(req).address);
        makeRoom(open, bucket);
        const connection = new Connection(ws, req, deps, randomUUID());
        open.set(connection, bucket);
        ws.once("close", () => open.delete(connection));
      });
    },
    connections: () => open.keys(),
    async closeAll({ code, reason, graceMs }) {
      for (const connection of open.keys()) connection.cut(code, reason);
      const deadline = performance.now() + graceMs;
      while (open.size > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      for (const connection of open.keys()) connection.terminate();
      server.close();
    },
  };
}

function refusal(req: IncomingMessage, deps: SocketsDeps): number | undefined {
  const path = (req.url ?? "/").split("?", 1)[0] as string;
  if (!deps.paths.has(path)) return 404;
  if (hasForwardingHeader(req.headers) || !deps.isHostKnown(req)) return 403;
  return deps.phase() === "draining" || deps.phase() === "stopped" ? 503 : undefined;
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

/** Newest wins: over the budget the oldest socket without a handshake is closed, so that silent ones never lock anybody out. */
function makeRoom(open: Map<Connection, string>, bucket: string): void {
  const silent = [...open].filter(([connection]) => !connection.established);
  const same = silent.filter(([, b]) => b === bucket);
  if (same.length >= limits.maxSilentPerAddress) same[0]?.[0].terminate();
  else if (silent.length >= limits.maxSilent) silent[0]?.[0].terminate();
}
