import { once } from "node:events";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";

/** The part of a wire tap that depends on no protocol: who is linked, and cuts. */
export class TappedLinks<L> {
  readonly #links = new Map<L, readonly [Socket, Socket]>();

  /** Links that are open. */
  get all(): ReadonlySet<L> {
    return new Set(this.#links.keys());
  }

  /** Links a client to a server on the loopback; an end of either ends both. @returns the server's side, and what cuts the link */
  open(link: L, client: Socket, serverPort: number): { server: Socket; cut(): void } {
    const server = connect({ host: "127.0.0.1", port: serverPort });
    this.#links.set(link, [client, server]);
    const cut = () => {
      this.#links.delete(link);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", cut).on("close", cut);
    return { server, cut };
  }

  /** Cuts every link; new ones are taken. */
  cutAll(): void {
    for (const sockets of this.#links.values()) for (const socket of sockets) socket.destroy();
    this.#links.clear();
  }

  /** Takes links on a port of the loopback that it returns. */
  async listen(tap: Server): Promise<number> {
    tap.listen(0, "127.0.0.1");
    await once(tap, "listening");
    return (tap.address() as AddressInfo).port;
  }

  async close(tap: Server): Promise<void> {
    this.cutAll();
    tap.close();
    await once(tap, "close");
  }
}
