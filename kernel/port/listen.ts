import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Server as TlsServer } from "node:tls";
import { messageOf, type SvcError } from "../../sdk/errors.ts";
import type { HealthPart } from "../../sdk/hooks.ts";
import type { Logger } from "../../sdk/types/common.ts";
import { kernelErrors } from "../errors.ts";
import { countDescriptors, readDescriptorLimit } from "../process/descriptors.ts";
import { answersAsGateway } from "../process/gateway-probe.ts";
import type { BindPlan } from "./bind-plan.ts";
import { createDescriptorBudget, type DescriptorBudget } from "./descriptor-budget.ts";
import { outboundLimits } from "./fanout/fanout.ts";
import { createSlowConsumers, type SlowConsumers } from "./fanout/slow-consumers.ts";
import { answerAndEnd } from "./linger.ts";
import { rawResponse, setBaseline } from "./raw-response.ts";
import { createRefusedConnections, judgeDescriptors, type RefusedConnections } from "./refused-connections.ts";
import { createRequestPipeline, type RequestPipeline } from "./request-pipeline.ts";
import type { TlsMaterial } from "./tls-files.ts";

export interface Listeners {
  host: string;
  port: number;
  servers: Server[];
  /** Host names of the certificate in use; none without TLS. */
  certificateNames(): readonly string[];
  /** Account of what is unsent on all connections of the port. */
  outbound: SlowConsumers;
  /** Connections that were refused, as a part of health. */
  connections(): HealthPart;
  /** Counts descriptors and logs when their limit leaves few connections or none. */
  checkRoom(): Promise<void>;
  /** Is there room for one more WebSocket? A `false` counts as a refusal. */
  hasRoom(openWebSockets: number): boolean;
  /** Prints where the port is, for a developer. */
  printBanner(): Promise<void>;
  close(): Promise<void>;
}

export interface ListenOptions {
  plan: BindPlan;
  port: number;
  handler: RequestListener;
  /** Undefined: plain HTTP. */
  tls?: TlsMaterial | undefined;
  /** Serve TLS by listhen, for a developer's machine. */
  dev?: boolean;
  logger: Pick<Logger, "info" | "warn" | "error">;
  monotonic(): number;
  onUpgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const noNames: readonly string[] = [];

/** Number of WebSocket connections at a time. */
const MAX_WEBSOCKETS = 12_000;

/** Time that connections have to end at a stop. */
const CLOSE_MS = 1_000;

/** Head, whole request and idle keep-alive limits; Node looks only each `connectionsCheckingInterval`. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 60_000, keepAliveTimeout: 5_000, connectionsCheckingInterval: 2_000 };

/**
 * Opens the port exclusively.
 * @throws {SvcError} `already-listening`, `port-taken`, `bind-failed`
 */
export async function openListeners(options: ListenOptions): Promise<Listeners> {
  const { plan } = options;
  const budget = createDescriptorBudget({ limit: readDescriptorLimit, count: countDescriptors, now: () => performance.now() });
  const refused = createRefusedConnections({ logger: options.logger, monotonic: options.monotonic, figures: budget.figures });
  const outbound = createSlowConsumers(outboundLimits, options.monotonic);
  const sockets = new Set<Socket>();
  const shared = { ...options, budget, refused, sockets, pipeline: createRequestPipeline({ handler: options.handler, outbound }) };
  const main = await listenOne(plan.host, options.port, shared);
  const { port } = main.server.address() as { port: number };
  const servers = [main.server];
  for (const alias of plan.aliases) {
    try {
      servers.push((await listenOne(alias.host, port, shared)).server);
    } catch (error) {
      if (alias.optional) continue;
      for (const server of servers) server.close();
      throw error;
    }
  }
  const followed = await followTls(servers, options);
  return {
    host: plan.host,
    port,
    servers,
    outbound,
    certificateNames: followed?.names ?? (() => noNames),
    connections: refused.part,
    async checkRoom() {
      await budget.recount();
      const figures = budget.figures();
      const judged = figures && judgeDescriptors(figures);
      if (judged) options.logger[judged.level](judged.message);
    },
    hasRoom(openWebSockets) {
      const hasRoom = openWebSockets < MAX_WEBSOCKETS && budget.mayUpgrade();
      if (!hasRoom) refused.count();
      return hasRoom;
    },
    printBanner: async () => main.printBanner?.(),
    close: async () => {
      followed?.dispose();
      refused.dispose();
      await Promise.all(servers.map((server) => closeServer(server, sockets)));
    },
  };
}

/** Node closes no connection that has not begun to speak HTTP (a TLS handshake), nor one that was handed over. */
async function closeServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, CLOSE_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

interface Shared extends ListenOptions {
  budget: DescriptorBudget;
  refused: RefusedConnections;
  /** Connections that are open, TLS or not. */
  sockets: Set<Socket>;
  pipeline: RequestPipeline;
}

async function listenOne(host: string, port: number, options: Shared): Promise<Opened> {
  if (!options.dev || !options.tls) {
    const server = await makeServer(options);
    serve(server, options);
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ host, port, exclusive: true, ipv6Only: host.includes(":") }, resolve);
      });
    } catch (error) {
      throw await bindError(host, port, error);
    }
    watchAccepts(server, options);
    return { server };
  }
  const { openDevServer } = await import("./dev-server.ts");
  const { cert, key } = options.tls.context;
  // It listens already, and nothing can have arrived: all of this happens before the next event.
  const opened = await openDevServer(host, port, { cert: String(cert), key: String(key) }).catch(async (error: unknown) => {
    throw await bindError(host, port, error);
  });
  Object.assign(opened.server, timeouts);
  serve(opened.server, options);
  watchAccepts(opened.server, options);
  return opened;
}

interface Opened {
  server: Server;
  printBanner?(): Promise<void>;
}

/** Attaches the gateway to a server, before its first connection. */
function serve(server: Server, options: Shared): void {
  const { pipeline, refused } = options;
  server.on("request", pipeline.handle);
  server.on("checkContinue", pipeline.handle);
  server.on("checkExpectation", (req, res) => pipeline.handle(req, res, refuseExpectation));
  server.on("upgrade", (req, socket, head) => {
    if (!pipeline.release(socket)) socket.destroy();
    else if (req.headers.upgrade?.toLowerCase() === "websocket") options.onUpgrade(req, socket, head);
    else declineUpgrade(server, req, socket, head);
  });
  server.on("connect", (_req, socket) => {
    if (pipeline.release(socket)) answerAndEnd(socket, rawResponse(405));
    else socket.destroy();
  });
  server.on("clientError", (error, socket) => pipeline.breakOff(socket, () => answerClientError(error, socket)));
  server.on("connection", (socket) => admitConnection(socket, options));
  server.on("drop", refused.count);
  // Node takes its own listeners off a connection that it hands over (`connect`, `upgrade`); an error without a listener would end the process.
  server.on(options.tls ? "secureConnection" : "connection", (socket: Socket) => socket.on("error", () => socket.destroy()));
}

function watchAccepts(server: Server, options: Shared): void {
  // Errors of `accept`: only a lack of descriptors outlasts the one connection.
  server.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EMFILE" && error.code !== "ENFILE") return;
    options.budget.exhausted();
    options.refused.count();
  });
}

/** The TLS module is loaded by those who use it only. */
async function makeServer({ tls }: ListenOptions): Promise<Server> {
  const settings = { ...timeouts, noDelay: true, maxHeaderSize: 16_384, requireHostHeader: false };
  if (!tls) return createServer(settings);
  const { createServer: createSecure } = await import("node:https");
  const asksClients = tls.paths.ca !== undefined;
  const secure = { ...tls.context, handshakeTimeout: timeouts.headersTimeout, requestCert: asksClients, rejectUnauthorized: asksClients };
  return createSecure({ ...settings, ...secure });
}

/** New certificates count from the next connection on; those that are open stay. */
async function followTls(servers: readonly Server[], { tls, logger }: ListenOptions) {
  if (!tls) return undefined;
  let { names } = tls;
  const { followTlsFiles } = await import("./tls-files.ts");
  const apply = (next: TlsMaterial) => {
    for (const server of servers as unknown as readonly TlsServer[]) server.setSecureContext(next.context);
    names = next.names;
  };
  const followed = followTlsFiles(tls.paths, { apply, logger });
  return { names: () => names, dispose: () => followed.dispose() };
}

/** The one expectation that HTTP knows, `100-continue`, never comes here. */
function refuseExpectation(req: IncomingMessage, res: ServerResponse): void {
  setBaseline(req, res);
  res.writeHead(417, { Connection: "close", "Content-Length": "0" }).end();
}

function admitConnection(socket: Socket, { budget, refused, sockets }: Shared): void {
  // A declined upgrade comes here again.
  if (sockets.has(socket)) return;
  sockets.add(socket);
  budget.opened();
  socket.once("close", () => {
    sockets.delete(socket);
    budget.closed();
  });
  if (budget.mayConnect()) return;
  socket.destroy();
  refused.count();
}

async function bindError(host: string, port: number, error: unknown): Promise<SvcError> {
  if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return kernelErrors.bindFailed({ host, port, reason: messageOf(error) });
  const fields = { host, port };
  return (await answersAsGateway(host, port)) ? kernelErrors.alreadyListening(fields) : kernelErrors.portTaken(fields);
}

/** Statuses of what Node's parser and its timers refuse; everything else is a bad request. */
const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers a connection on which no request could be read, and ends it: 400, 408, 413 or 431 with the headers of every other answer. Nothing is
 * written into an answer that has begun already. Listener for `clientError` of an HTTP server.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Node keeps the answer that is on its way here, and its own handler looks at the same field.
  const { _httpMessage: current } = socket as { _httpMessage?: ServerResponse | null };
  if (error.code === "ECONNRESET" || !socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  answerAndEnd(socket, rawResponse(statuses[error.code ?? ""] ?? 400));
}

/** Headers of one hop; what is left of the request stands without them. */
const hopHeaders = new Set(["connection", "upgrade", "http2-settings"]);

/**
 * Serves a request as if it had asked for no upgrade, which is how a server says that it speaks no such protocol (RFC 9110 7.8). Some clients offer
 * HTTP/2 that way on every request, also on one with a body, so Node's parser has to read it once more.
 */
function declineUpgrade(server: Server, req: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${req.method} ${req.url} HTTP/1.1`];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i] ?? "";
    if (!hopHeaders.has(name.toLowerCase())) lines.push(`${name}: ${req.rawHeaders[i + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`, "latin1"), head]));
  server.emit("encrypted" in socket ? "secureConnection" : "connection", socket);
}
