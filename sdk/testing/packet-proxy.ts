import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * How a stream is cut into packets. A network may cut it anywhere; `joined` and `split` are the two ends of that.
 * - `as-is`: as the server wrote it
 * - `joined`: everything up to the next pause in one packet
 * - `split`: one byte per packet, so that lines, frames and characters arrive in pieces
 */
export type PacketShape = "as-is" | "joined" | "split";

/** A TCP proxy on the loopback that cuts what the server sends. */
export interface PacketProxy {
  port: number;
  /** Applies to what the server sends from now on. */
  shape(shape: PacketShape): void;
  /** Cuts every connection and stops listening. */
  close(): Promise<void>;
}

/** A pause of the server that ends a joined packet. */
const PAUSE_MS = 25;

/** Starts a proxy to a server on the loopback, for the peer of a channel to put in front of it. */
export async function startPacketProxy(serverPort: number): Promise<PacketProxy> {
  let shape: PacketShape = "as-is";
  const open = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect({ host: "127.0.0.1", port: serverPort });
    for (const socket of [client, server]) {
      open.add(socket);
      socket.setNoDelay(true);
      // A reset needs no report: the close that follows cuts the other side too.
      socket.on("error", () => socket.destroy());
      socket.on("close", () => open.delete(socket));
    }
    client.on("close", () => server.destroy());
    client.pipe(server);
    forward(server, client, () => shape);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    port: (proxy.address() as AddressInfo).port,
    shape: (next) => {
      shape = next;
    },
    async close() {
      for (const socket of open) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}

/** Writes what `from` sends to `to`, in order, in the shape of the moment it arrived; ends `to` after the last of it. */
function forward(from: Socket, to: Socket, shapeOf: () => PacketShape): void {
  let held: Buffer[] = [];
  let pause: NodeJS.Timeout | undefined;
  let written = Promise.resolve();
  const release = (shape: PacketShape) => {
    const data = Buffer.concat(held);
    held = [];
    written = written.then(() => (shape === "split" ? writeBytes(to, data) : void (to.destroyed || to.write(data))));
  };
  from.on("data", (data) => {
    clearTimeout(pause);
    held.push(data);
    const shape = shapeOf();
    if (shape === "joined") pause = setTimeout(() => release(shape), PAUSE_MS);
    else release(shape);
  });
  from.on("end", () => {
    clearTimeout(pause);
    release("as-is");
    written = written.then(() => void to.end());
  });
  from.on("close", () => {
    clearTimeout(pause);
    if (!from.readableEnded) to.destroy();
  });
}

async function writeBytes(to: Socket, data: Buffer): Promise<void> {
  for (let at = 0; at < data.length && !to.destroyed; at += 1) {
    to.write(data.subarray(at, at + 1));
    await nextTurn();
  }
}
