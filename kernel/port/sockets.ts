import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import { addressBucket } from "../../sdk/internal/addresses.ts";
import { limits } from "../../sdk/protocol/frames.ts";
import type { ClientPolicy, ClientRefusal } from "../auth/client-policy.ts";
import { createRevocations } from "../auth/revocations.ts";
import { Connection, type ConnectionDeps } from "./connection.ts";
import { createSilentSockets } from "./fanout/silent-sockets.ts";
import { createWriteBatcher } from "./fanout/write-batcher.ts";
import { answerAndEnd } from "./linger.ts";
import { rawResponse } from "./raw-response.ts";

export interface Sockets {
  /** Listener for the server's `upgrade` event. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Close frame to all; whoever is left after `graceMs` is destroyed. */
  closeAll(options: { code: number; reason: string; graceMs: number }): Promise<void>;
}

interface SocketsDeps extends ConnectionDeps {
  /** Paths that take an upgrade. */
  paths: ReadonlySet<string>;
  clientPolicy: ClientPolicy;
  /** Is this one turned away because the process is short of memory? */
  isShed(req: IncomingMessage): boolean;
  /** Is there room for one more? */
  hasRoom(open: number): boolean;
}

const SHED_RETRY_S = 5;
/** Maximum number of bytes gathered in one turn of the event loop; above it they are written at once. */
const MAX_GATHERED_BYTES = 1_048_576;
/** Pieces of one message, as frames and as reads, before the handshake: each costs more than the byte it may hold. */
const piecesBeforeHello = { maxFragments: 32, maxBufferedChunks: 1_024 };
const silentBudget = { perAddress: limits.maxSilentPerAddress, total: limits.maxSilent };

/** Control connections: who may upgrade, the budget of silent sockets, and the list of all that are open. */
export function createSockets(deps: SocketsDeps): Sockets {
  // closeTimeout: a peer that never answers the close frame is destroyed after 2 s; @types/ws 8.18 lacks it.
  const options = {
    noServer: true,
    maxPayload: limits.maxPreauthPayload,
    ...piecesBeforeHello,
    perMessageDeflate: false,
    handleProtocols: () => false as const,
    autoPong: false, // a connection answers pings itself
    closeTimeout: limits.closeTimeoutMs,
  };
  const server = new WebSocketServer(options as ServerOptions);
  server.on("wsClientError", (_error, socket) => refuse(socket, { status: 400 }));
  const open = new Set<Connection>();
  const silent = createSilentSockets<Connection>(silentBudget, (oldest) => oldest.terminate());
  const [turn, revocations] = [createWriteBatcher(MAX_GATHERED_BYTES), createRevocations()];

  // A function of its own: what stays with a connection would otherwise keep its whole upgrade request too.
  const admit = (ws: WebSocket, req: IncomingMessage, socket: Duplex) => {
    destroyAfterEnd(socket, limits.closeTimeoutMs);
    const connection: Connection = new Connection(req, { ws, socket, turn, revocations, settled: () => silent.leave(connection) }, deps);
    open.add(connection);
    silent.enter(connection, addressBucket(deps.clientPolicy.callerOf(req).address));
    ws.once("close", () => {
      open.delete(connection);
      silent.leave(connection);
    });
  };
  return {
    upgrade(req, socket, head) {
      const refused = refusal(req, deps) ?? (deps.hasRoom(open.size) ? undefined : { status: 503, retryAfter: 1 });
      if (refused) return refuse(socket, { ...refused, requestId: req.headers["x-request-id"] });
      turn.write(socket, 0); // the answer to the upgrade leaves together with the challenge
      server.handleUpgrade(req, socket, head, (ws) => admit(ws, req, socket));
    },
    async closeAll({ code, reason, graceMs }) {
      for (const connection of open) connection.cut(code, reason);
      const deadline = performance.now() + graceMs;
      while (open.size > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      for (const connection of open) connection.terminate();
      server.close();
    },
  };
}

/** Ends connections that a client left without a close frame while it reads nothing more: ws sets no limit to them and to what is unsent. */
function destroyAfterEnd(socket: Duplex, ms: number): void {
  socket.once("end", () => {
    const timer = setTimeout(() => socket.destroy(), ms);
    socket.once("close", () => clearTimeout(timer));
  });
}

function refusal(req: IncomingMessage, deps: SocketsDeps): (Omit<ClientRefusal, "status"> & { status: number }) | undefined {
  const path = (req.url ?? "/").split("?", 1)[0] as string;
  if (!deps.paths.has(path)) return { status: 404 };
  const isLeaving = deps.phase() === "draining" || deps.phase() === "stopped";
  if (isLeaving) return deps.clientPolicy.upgradeRefusalOf(req) ?? { status: 503, retryAfter: 1 };
  return deps.clientPolicy.upgradeRefusalOf(req) ?? (deps.isShed(req) ? { status: 503, retryAfter: SHED_RETRY_S } : undefined);
}

function refuse(socket: Duplex, { status, ...options }: { status: number } & Parameters<typeof rawResponse>[1]): void {
  answerAndEnd(socket, rawResponse(status, options));
}
