import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** Answer of the proxy to a request for a tunnel. A number is a refusal with that status. */
export type ProxyMode = "tunnel" | "hang" | "reset" | number;

/** One request for a tunnel, and what went through. */
export interface Tunnelled {
  target: string;
  headers: IncomingHttpHeaders;
  /** Bytes of the client, as they passed. */
  passed: Buffer[];
}

/** A real HTTP proxy for `CONNECT` on loopback. */
export interface ConnectProxy {
  url: string;
  tunnels: Tunnelled[];
  mode: ProxyMode;
  close(): Promise<void>;
}

/** @param hosts ports on this machine that stand for the hosts of the world, by `host:port` */
export async function startConnectProxy(hosts: Readonly<Record<string, number>>): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer((_req, res) => void res.writeHead(405).end("only tunnels"));
  server.on("connection", keep);
  server.on("connect", (req, client: Socket, head) => {
    const tunnelled: Tunnelled = { target: req.url ?? "", headers: req.headers, passed: [] };
    proxy.tunnels.push(tunnelled);
    const { mode } = proxy;
    if (mode === "hang") return;
    if (mode === "reset") return void client.resetAndDestroy();
    const port = mode === "tunnel" ? hosts[tunnelled.target] : undefined;
    if (port === undefined) return void client.end(`HTTP/1.1 ${mode === "tunnel" ? 502 : mode} Refused\r\ncontent-length: 0\r\n\r\n`);
    const origin = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      origin.write(head);
      client.on("data", (chunk: Buffer) => tunnelled.passed.push(chunk));
      client.pipe(origin).pipe(client);
    });
    keep(origin);
    client.on("close", () => origin.destroy());
    origin.on("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: ConnectProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels: [],
    mode: "tunnel",
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
