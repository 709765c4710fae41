import type { Socket } from "node:net";

/** Messages on the wire: one JSON object per line, in both directions. */
export type Line =
  | { type: "hello"; account: string; token: string }
  | { type: "welcome" }
  | { type: "refused"; reason: string }
  | { type: "said"; id: string; room: string; group: boolean; from: string; text: string; thread?: string; reply?: string }
  | { type: "ack"; id: string }
  | { type: "say"; uid: string; to: string; text: string; thread?: string; reply?: string }
  | { type: "edit"; uid: string; id: string; text: string }
  | { type: "typing"; to: string; on: boolean }
  | { type: "done"; uid: string; id: string }
  | { type: "failed"; uid: string; reason: string };

/** Longest line either side takes; a longer one ends the link. */
const MAX_LINE_CHARS = 1_048_576;

export function sendLine(socket: Socket, line: Line): void {
  socket.write(`${JSON.stringify(line)}\n`);
}

/**
 * Calls `take` for each line that arrives, in order, until the socket is destroyed. A packet may hold several lines, or a part of one. A line that is
 * not JSON, and a `take` that throws, destroy the socket.
 */
export function readLines(socket: Socket, take: (line: Line) => void): void {
  let parts: string[] = [];
  let chars = 0;
  const readPacket = (packet: string) => {
    const pieces = packet.split("\n");
    for (const [i, piece] of pieces.entries()) {
      parts.push(piece);
      chars += piece.length;
      if (chars > MAX_LINE_CHARS) throw new Error(`a line is longer than ${MAX_LINE_CHARS} characters`);
      if (i === pieces.length - 1 || socket.destroyed) return;
      const text = parts.join("");
      parts = [];
      chars = 0;
      take(parseLine(text));
    }
  };
  socket.setEncoding("utf8");
  socket.on("data", (packet: string) => {
    try {
      readPacket(packet);
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
}

function parseLine(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch (error) {
    throw new Error("a line is not JSON", { cause: error });
  }
}
