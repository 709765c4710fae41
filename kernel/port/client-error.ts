import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { answerAndEnd } from "./linger.ts";
import { rawResponse } from "./raw-response.ts";

/** Statuses of what Node's parser and its timers refuse; everything else is a bad request. */
const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers a connection on which no request could be read, and ends it: 400, 408, 413 or 431 with the headers of every other answer. Nothing is
 * written into an answer that has begun already. Listener for `clientError` of an HTTP server.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Node keeps the answer that is on its way here, and its own handler looks at the same field.
  const { _httpMessage: current } = socket as { _httpMessage?: ServerResponse | null };
  if (error.code === "ECONNRESET" || !socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  answerAndEnd(socket, rawResponse(statuses[error.code ?? ""] ?? 400));
}
