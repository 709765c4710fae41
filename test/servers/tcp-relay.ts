import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A relay in front of a server on the loopback that can fail as a network does. */
export interface TcpRelay {
  port: number;
  /** Cuts every connection at once. */
  cut(): void;
  /** Passes nothing on any more and ends nothing, as when a cable is pulled out: neither side is told. */
  stall(): void;
  /** Passes on what comes over new connections; those that were stalled stay so. */
  resume(): void;
  close(): Promise<void>;
}

export async function startTcpRelay(serverPort: number): Promise<TcpRelay> {
  const open = new Set<Socket>();
  let isStalled = false;
  const server = createServer((near) => {
    const far = connect({ host: "127.0.0.1", port: serverPort });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.setNoDelay(true);
      from.on("error", () => undefined);
      from.on("data", (bytes: Buffer) => to.write(bytes));
      from.on("close", () => {
        open.delete(from);
        if (!from.isPaused()) to.destroy();
      });
    }
    if (isStalled) for (const socket of [near, far]) socket.pause();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      for (const socket of open) socket.destroy();
    },
    stall: () => {
      isStalled = true;
      for (const socket of open) socket.pause();
    },
    resume: () => {
      isStalled = false;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
