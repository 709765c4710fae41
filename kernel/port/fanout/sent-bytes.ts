import type { Duplex } from "node:stream";

interface Handle {
  bytesWritten: number;
  writeQueueSize: number;
}

/**
 * Bytes of a socket that the system has taken so far. A large write is taken bit by bit, which `bytesWritten` and the callbacks of a stream
 * do not show before its end; the handle below them does (Node 20 to 24: `net.js` itself looks there for progress before a time-out).
 */
export function sentBytes(socket: Duplex): number {
  const handle = (socket as Duplex & { _handle?: Partial<Handle> | null })._handle;
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}
