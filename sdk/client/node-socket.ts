import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import WebSocket from "ws";
import type { ClientSocket, SocketEnd, SocketHandlers, SocketOptions } from "./types.ts";

/** Time limit for a close frame before the socket is cut. */
const CLOSE_WAIT_MS = 1_000;
/** Largest answer read; the gateway's own frames end at 25 MiB. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;

type Failure = Extract<SocketEnd, { closed: false }>;

/** A `ws` socket as the core wants it; failures to connect arrive classified. */
export function openNodeSocket(url: string, handlers: SocketHandlers, { headers, tlsFingerprint }: SocketOptions): ClientSocket {
  const fixed = { perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES, headers: { ...headers } };
  // A pinned certificate is looked at below, before anything is said that a stranger must not hear.
  const socket = new WebSocket(url, tlsFingerprint === undefined ? fixed : { ...fixed, rejectUnauthorized: false });
  let failure: Failure | undefined;
  let cut: NodeJS.Timeout | undefined;

  socket.on("message", (data, isBinary) => {
    if (!isBinary) handlers.message(data.toString());
  });
  socket.on("upgrade", (response: IncomingMessage) => {
    if (tlsFingerprint === undefined || isPinned(response, tlsFingerprint)) return;
    failure = { closed: false, reason: "network", message: "its certificate is not the one that is expected" };
    socket.terminate();
  });
  socket.on("unexpected-response", (_request, response: IncomingMessage) => {
    failure = describeStatus(response.statusCode);
    socket.terminate(); // `ws` leaves this to whoever listens
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    // After `open` an error is followed by a close frame's code, which says more.
    if (socket.readyState !== WebSocket.OPEN) failure ??= describeError(error);
  });
  socket.on("close", (code, reason) => {
    clearTimeout(cut);
    handlers.done(failure ?? { closed: true, code, reason: reason.toString() });
  });

  return {
    send: (text) => socket.send(text),
    close(code, reason) {
      socket.close(code, reason);
      cut ??= setTimeout(() => socket.terminate(), CLOSE_WAIT_MS);
    },
  };
}

/** Over plain HTTP there is no certificate, and so not the expected one. */
function isPinned({ socket }: IncomingMessage, fingerprint: string): boolean {
  const plain = (text: string) =>
    text
      .replace(/^sha256:/i, "")
      .replaceAll(":", "")
      .toLowerCase();
  const seen = "getPeerCertificate" in socket ? (socket as TLSSocket).getPeerCertificate().fingerprint256 : undefined;
  return seen !== undefined && plain(seen) === plain(fingerprint);
}

function describeStatus(status: number | undefined): Failure {
  if (status === 503) return { closed: false, reason: "network", message: "it is stopping (HTTP 503)" };
  if (status === 403) return { closed: false, reason: "network", message: "the upgrade was refused (HTTP 403)" };
  return { closed: false, reason: "not-a-gateway", message: `what answers there is not a gateway (HTTP ${status})` };
}

function describeError(error: NodeJS.ErrnoException): Failure {
  const code = error.code ?? "";
  if (code === "ECONNREFUSED") return { closed: false, reason: "refused", message: "connection refused" };
  if (code === "ETIMEDOUT") return { closed: false, reason: "timeout", message: "connection timed out" };
  if (code.startsWith("HPE_")) return { closed: false, reason: "not-a-gateway", message: "what answers there does not speak HTTP" };
  return { closed: false, reason: "network", message: error.message };
}
