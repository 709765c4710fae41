import type { Duplex } from "node:stream";

/** A reset overtakes the answer of a client that is still sending; after this long whoever wanted to read it has. */
const LINGER_MS = 1_000;

/** Reads nothing more of a connection, for good: what comes stays below, and the sender waits. */
export function stopReading(socket: Duplex): void {
  // A listener of our own takes the bytes away from Node's parser.
  socket.removeAllListeners("data");
  socket.on("data", () => undefined);
  socket.pause();
  socket.resume = () => socket; // Node empties a body that nobody read
}

/**
 * Ends a connection so that its last answer arrives: nothing more is said and nothing more is read, which stops a client that sends, and after a
 * second it is cut. The answer must be written before.
 */
export function endGently(socket: Duplex): void {
  stopReading(socket);
  socket.on("error", () => undefined);
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

/** Answers on a connection that no response object stands for (a refused upgrade, a `CONNECT`), and ends it, whether or not the client does. */
export function answerAndEnd(socket: Duplex, answer: string): void {
  socket.write(answer);
  endGently(socket);
}

/** Makes Node's own end of a connection, after an answer with `Connection: close`, such a gentle one. */
export function lingerAfterAnswer(socket: Duplex): void {
  (socket as Duplex & { destroySoon(): void }).destroySoon = () => endGently(socket);
}
