import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, Server as TlsServer } from "node:tls";
import { messageOf, SvcError } from "../../sdk/errors.ts";
import type { BindPlan } from "../../sdk/gateway/edge/bind-plan.ts";
import { answerClientError } from "../../sdk/gateway/edge/client-error.ts";
import { declineUpgrade } from "../../sdk/gateway/edge/decline-upgrade.ts";
import { createDescriptorBudget, type DescriptorBudget } from "../../sdk/gateway/edge/descriptor-budget.ts";
import { answerAndEnd } from "../../sdk/gateway/edge/linger.ts";
import { rawResponse } from "../../sdk/gateway/edge/raw-response.ts";
import { countDescriptors, readDescriptorLimit } from "../../sdk/host/descriptors.ts";
import { answersAsGateway } from "../../sdk/host/gateway-probe.ts";
import type { TlsMaterial } from "../../sdk/host/tls-files.ts";
import type { Logger } from "../../sdk/types/common.ts";
import "../errors.ts";

export interface Listeners {
  host: string;
  port: number;
  servers: Server[];
  /** Are there descriptors to spare for a socket that lasts? */
  hasRoom(): boolean;
  close(): Promise<void>;
}

export interface ListenOptions {
  plan: BindPlan;
  port: number;
  handler: RequestListener;
  /** Undefined: plain HTTP. */
  tls?: TlsMaterial | undefined;
  logger: Pick<Logger, "info" | "warn">;
  onUpgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Head, whole request and idle keep-alive limits (`security.md` 2, N-02, N-03); Node looks only each `connectionsCheckingInterval`. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 60_000, keepAliveTimeout: 5_000, connectionsCheckingInterval: 2_000 };

/**
 * Opens the port exclusively.
 * @throws {SvcError} `already-listening`, `port-taken`, `bind-failed`
 */
export async function openListeners(options: ListenOptions): Promise<Listeners> {
  const { plan } = options;
  const budget = createDescriptorBudget({ limit: readDescriptorLimit, count: countDescriptors, now: () => performance.now() });
  const main = await listenOne(plan.host, options.port, { ...options, budget });
  const { port } = main.address() as { port: number };
  const servers = [main];
  for (const alias of plan.aliases) {
    try {
      servers.push(await listenOne(alias.host, port, { ...options, budget }));
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
    hasRoom: budget.mayUpgrade,
    close: async () => {
      followed?.dispose();
      await Promise.all(servers.map(closeServer));
    },
  };
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
  });
}

async function listenOne(host: string, port: number, options: ListenOptions & { budget: DescriptorBudget }): Promise<Server> {
  const server = await makeServer(options);
  server.on("upgrade", (req, socket, head) => {
    if (req.headers.upgrade?.toLowerCase() === "websocket") options.onUpgrade(req, socket, head);
    else declineUpgrade(server, req, socket, head);
  });
  server.on("checkContinue", options.handler);
  server.on("connect", (_req, socket) => answerAndEnd(socket, rawResponse(405)));
  server.on("clientError", answerClientError);
  server.on("connection", (socket) => admitConnection(socket, options.budget));
  // Node takes its own listeners off a connection that it hands over (`connect`, `upgrade`); an error without a listener would end the process.
  server.on(options.tls ? "secureConnection" : "connection", (socket: Socket) => socket.on("error", () => socket.destroy()));
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true, ipv6Only: host.includes(":") }, resolve);
    });
  } catch (error) {
    throw await bindError(host, port, error);
  }
  // What `accept` fails with; only a lack of descriptors lasts longer than the one connection.
  server.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EMFILE" || error.code === "ENFILE") options.budget.exhausted();
  });
  return server;
}

/** The TLS module is loaded by those who use it only. */
async function makeServer({ tls, handler }: ListenOptions): Promise<Server> {
  const settings = { ...timeouts, noDelay: true, maxHeaderSize: 16_384, requireHostHeader: false };
  if (!tls) return createServer(settings, handler);
  const { createServer: createSecure } = await import("node:https");
  const asksClients = tls.paths.ca !== undefined;
  const secure = { ...tls.context, handshakeTimeout: timeouts.headersTimeout, requestCert: asksClients, rejectUnauthorized: asksClients };
  return createSecure({ ...settings, ...secure }, handler);
}

/** New certificates count from the next connection on; those that are open stay. */
async function followTls(servers: readonly Server[], { tls, logger }: ListenOptions): Promise<{ dispose(): void } | undefined> {
  if (!tls) return undefined;
  const { followTlsFiles } = await import("../../sdk/host/tls-files.ts");
  const apply = (context: SecureContextOptions) => {
    for (const server of servers as unknown as readonly TlsServer[]) server.setSecureContext(context);
  };
  return followTlsFiles(tls.paths, { apply, logger });
}

function admitConnection(socket: Socket, budget: DescriptorBudget): void {
  budget.opened();
  socket.once("close", budget.closed);
  if (!budget.mayConnect()) socket.destroy();
}

async function bindError(host: string, port: number, error: unknown): Promise<SvcError> {
  if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return new SvcError("bind-failed", { host, port, reason: messageOf(error) });
  const code = (await answersAsGateway(host, port)) ? "already-listening" : "port-taken";
  return new SvcError(code, { host, port, holder: "" });
}
