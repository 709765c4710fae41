import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, connect, type Socket } from "node:net";
import { createServer } from "node:tls";
import { makeCertificate } from "./certificate.ts";

/** A server that speaks TLS under a name of its own and passes the bytes on. */
export interface TlsFront {
  port: number;
  /** File of the certificate that clients have to trust. */
  ca: string;
  close(): void;
}

/**
 * Puts TLS in front of a plain server of this machine.
 * @param folder for certificate and key
 * @param host name in the certificate
 * @param url address of the plain server
 */
export async function startTlsFront(folder: string, host: string, url: string): Promise<TlsFront> {
  const files = await makeCertificate(folder, host, host);
  const sockets = new Set<Socket>();
  const server = createServer({ cert: await readFile(files.cert), key: await readFile(files.key) }, (socket) => {
    const origin = connect(Number(new URL(url).port), "127.0.0.1");
    for (const one of [socket, origin]) {
      sockets.add(one);
      one.on("error", () => undefined).on("close", () => void [socket.destroy(), origin.destroy(), sockets.delete(one)]);
    }
    socket.pipe(origin).pipe(socket);
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    ca: files.cert,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
