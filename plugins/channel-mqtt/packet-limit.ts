import type { Socket } from "node:net";

/** Longest length field of a packet (MQTT 5, section 1.5.5). */
const MAX_LENGTH_BYTES = 4;

/**
 * Ends a connection whose broker announces a packet longer than allowed, before its content is collected. It reads the lengths only, beside whoever reads the stream.
 */
export function limitPackets(socket: Socket, maxBytes: number): void {
  let skip = 0;
  let length = 0;
  let lengthBytes = -1;
  const take = (byte: number): void => {
    // The first byte is the kind.
    if (lengthBytes < 0) {
      lengthBytes = 0;
      length = 0;
      return;
    }
    length += (byte & 127) * 128 ** lengthBytes;
    lengthBytes += 1;
    const isWhole = byte < 128;
    if (!isWhole && lengthBytes === MAX_LENGTH_BYTES) throw new Error("the broker sent no MQTT: a packet's length is too long");
    if (!isWhole) return;
    if (length > maxBytes) throw new Error(`the broker announced a packet of ${length} bytes; maxPacketBytes allows ${maxBytes}`);
    skip = length;
    lengthBytes = -1;
  };
  socket.on("data", (chunk: Buffer) => {
    try {
      for (let at = 0; at < chunk.length && !socket.destroyed; ) {
        if (skip > 0) {
          const step = Math.min(skip, chunk.length - at);
          skip -= step;
          at += step;
        } else {
          take(chunk[at] as number);
          at += 1;
        }
      }
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
}
