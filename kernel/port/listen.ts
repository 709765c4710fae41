import { createServer, get, type RequestListener, type Server } from "node:http";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { messageOf, SvcError } from "../../sdk/errors.ts";
import "../errors.ts";

export type BindMode = "loopback" | "lan" | "tailnet" | "auto" | "custom";

export interface BindPlan {
  /** Address that must bind. */
  host: string;
  /** Further addresses on the same port; those marked optional may fail. */
  aliases: Array<{ host: string; optional: boolean }>;
  loopbackOnly: boolean;
}

const tailnetRange: [ipaddr.IPv4, number] = [ipaddr.IPv4.parse("100.64.0.0"), 10];

/** Addresses of a bind mode (`operations.md` 7.4). */
export function planBind(mode: BindMode, customBindHost: string | undefined): BindPlan {
  const loopback: BindPlan = { host: "127.0.0.1", aliases: [{ host: "::1", optional: true }], loopbackOnly: true };
  if (mode === "lan") return { host: "0.0.0.0", aliases: [], loopbackOnly: false };
  if (mode === "custom") return planAddress(customBindHost ?? "127.0.0.1");
  if (mode !== "tailnet") return loopback;
  const address = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find((a) => a.family === "IPv4" && ipaddr.IPv4.parse(a.address).match(tailnetRange));
  return address ? planAddress(address.address) : loopback;
}

/** The wildcard already answers on 127.0.0.1; a second listener there would fail. */
function planAddress(host: string): BindPlan {
  if (host === "127.0.0.1") return { host, aliases: [], loopbackOnly: true };
  return { host, aliases: host === "0.0.0.0" ? [] : [{ host: "127.0.0.1", optional: false }], loopbackOnly: false };
}

export interface Listeners {
  host: string;
  port: number;
  servers: Server[];
  close(): Promise<void>;
}

export interface ListenOptions {
  plan: BindPlan;
  port: number;
  handler: RequestListener;
  onUpgrade: Parameters<Server["on"]>[1];
}

/** Head, whole request and idle keep-alive limits (`security.md` 2, N-02, N-03); Node looks only each `connectionsCheckingInterval`. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 60_000, keepAliveTimeout: 5_000, connectionsCheckingInterval: 2_000 };
const MAX_REQUESTS_PER_SOCKET = 1_000;

/**
 * Opens the port exclusively.
 * @throws {SvcError} `already-listening`, `port-taken`, `bind-failed`
 */
export async function openListeners(options: ListenOptions): Promise<Listeners> {
  const { plan } = options;
  const main = await listenOne(plan.host, options.port, options);
  const { port } = main.address() as { port: number };
  const servers = [main];
  for (const alias of plan.aliases) {
    try {
      servers.push(await listenOne(alias.host, port, options));
    } catch (error) {
      if (alias.optional) continue;
      for (const server of servers) server.close();
      throw error;
    }
  }
  return {
    host: plan.host,
    port,
    servers,
    close: async () => {
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

async function listenOne(host: string, port: number, options: ListenOptions): Promise<Server> {
  const server = createServer({ ...timeouts, noDelay: true, maxHeaderSize: 16_384 }, options.handler);
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
  server.on("upgrade", options.onUpgrade);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true, ipv6Only: host.includes(":") }, resolve);
    });
  } catch (error) {
    throw await bindError(host, port, error);
  }
  server.on("error", () => undefined);
  return server;
}

async function bindError(host: string, port: number, error: unknown): Promise<SvcError> {
  if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return new SvcError("bind-failed", { host, port, reason: messageOf(error) });
  const code = (await answersAsGateway(host, port)) ? "already-listening" : "port-taken";
  return new SvcError(code, { host, port, holder: "" });
}

/** Does a gateway answer `/healthz` there? Bounded to half a second. */
export async function answersAsGateway(host: string, port: number): Promise<boolean> {
  const target = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return new Promise((resolve) => {
    const req = get({ host: target, port, path: "/healthz", signal: AbortSignal.timeout(500), agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => {
        body = (body + chunk).slice(0, 1_000);
      });
      res.on("end", () => resolve(/"status"\s*:\s*"live"/.test(body)));
      res.on("error", () => resolve(false));
    });

    req.on("error", () => resolve(false));
  });
}
