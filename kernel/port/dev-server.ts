import type { Server } from "node:http";
import { hostname } from "node:os";
import { commonErrors, messageOf } from "../../sdk/errors.ts";

/** A certificate and its key as PEM. */
export interface CertificatePair {
  cert: string;
  key: string;
}

/** A server of listhen that listens. */
export interface DevServer {
  server: Server;
  /** Prints the addresses, and a code for a camera where another device could follow it. */
  printBanner(): Promise<void>;
}

/** Browsers accept at most 398. */
const VALID_DAYS = 365;

/**
 * Listens by listhen with HTTPS. It would move to another port when the one asked for is taken; here that is the error it is elsewhere.
 * @throws an error with code `EADDRINUSE`; `failed` when listhen is not installed
 */
export async function openDevServer(host: string, port: number, pair: CertificatePair): Promise<DevServer> {
  const isPublic = !isLoopback(host);
  const listener = await listenBy(host, port, pair);
  if (port !== 0 && listener.address.port !== port) {
    await listener.close();
    throw Object.assign(new Error(`${host}:${port} is in use`), { code: "EADDRINUSE" });
  }
  // Among them is one of listhen 1.10.1 that throws, and so ends the process, when an answer is finished after its connection (a refused body).
  listener.server.removeAllListeners("request");
  const socketUrl = { title: "WebSocket", url: listener.url.replace(/^https/, "wss") };
  return {
    server: listener.server as Server,
    // Without another address it advises a flag that svc does not have.
    printBanner: () => listener.showURL(isPublic ? { extraURLs: [] } : { extraURLs: [socketUrl], qr: false }),
  };
}

/** Makes a certificate for this machine. listhen does that only for a server, so one listens on loopback for a moment. */
export async function makeCertificate(): Promise<CertificatePair> {
  const listener = await listenBy("127.0.0.1", 0, { validityDays: VALID_DAYS, domains: ["localhost", "127.0.0.1", "::1", hostname()] });
  await listener.close();
  if (!listener.https) throw commonErrors.failed({ message: "listhen made no certificate" });
  return listener.https;
}

async function listenBy(host: string, port: number, https: CertificatePair | { validityDays: number; domains: string[] }) {
  const { listen } = await import("listhen").catch((error: unknown) => {
    throw commonErrors.failed({
      message: `gateway --https needs the package listhen: ${messageOf(error)}; install svc with its optional packages`,
    });
  });
  const fixed = { public: !isLoopback(host), isProd: false, isTest: true, autoClose: false, showURL: false, open: false, clipboard: false };
  return listen(() => undefined, { ...fixed, port, hostname: host, https });
}

function isLoopback(host: string): boolean {
  return host === "127.0.0.1" || host === "::1";
}
