import type { Socket } from "node:net";

/** What travels: one JSON object per line, both ways. */
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
const MAX_LINE_BYTES = 1_048_576;

export function sendLine(socket: Socket, line: Line): void {
  socket.write(`${JSON.stringify(line)}\n`);
}

/** Calls `take` for each line that arrives; a line that is none destroys the socket. */
export function readLines(socket: Socket, take: (line: Line) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_BYTES) socket.destroy(new Error(`a line is longer than ${MAX_LINE_BYTES} bytes`));
    for (const text of lines) {
      try {
        take(JSON.parse(text) as Line);
      } catch (error) {
        socket.destroy(new Error("a line is not JSON", { cause: error }));
        return;
      }
    }
  });
}
