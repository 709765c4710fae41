import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** One connection through a tap. */
export interface TappedLink {
  /** Cuts both sides at once. */
  cut(): void;
}

/** A TCP proxy on the loopback whose connections can be counted, watched and cut. */
export interface TcpTap {
  port: number;
  readonly links: ReadonlySet<TappedLink>;
  /** Cuts every connection; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

interface TapOptions {
  serverPort: number;
  /** Called with what the client sends, before it is passed on; `false` keeps it back. */
  onClient?(data: Buffer, link: TappedLink): boolean | undefined;
  /** The same for what the server sends. */
  onServer?(data: Buffer, link: TappedLink): boolean | undefined;
}

export async function startTcpTap({ serverPort, onClient, onServer }: TapOptions): Promise<TcpTap> {
  const links = new Set<TappedLink>();
  const tap = createServer((client) => {
    const server = connect({ host: "127.0.0.1", port: serverPort });
    const link: TappedLink = {
      cut() {
        client.destroy();
        server.destroy();
      },
    };
    links.add(link);
    forward(client, server, (data) => onClient?.(data, link) ?? true);
    forward(server, client, (data) => onServer?.(data, link) ?? true);
    client.on("close", () => {
      links.delete(link);
      server.destroy();
    });
    server.on("close", () => client.destroySoon());
  });
  tap.listen(0, "127.0.0.1");
  await once(tap, "listening");
  const cut = () => {
    for (const link of [...links]) link.cut();
  };
  return {
    port: (tap.address() as AddressInfo).port,
    links,
    cut,
    async close() {
      cut();
      tap.close();
      await once(tap, "close");
    },
  };
}

function forward(from: Socket, to: Socket, passes: (data: Buffer) => boolean): void {
  from.setNoDelay(true);
  // A reset needs no report: the close that follows ends the other side too.
  from.on("error", () => from.destroy());
  from.on("data", (data) => {
    if (passes(data) && !to.destroyed) to.write(data);
  });
}
