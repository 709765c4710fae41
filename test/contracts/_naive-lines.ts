import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Channel, ChannelRun } from "svc/sdk";
import type { LinesAccount } from "../../examples/plugin-channel/src/accounts.ts";
import { createLinesChannel } from "../../examples/plugin-channel/src/channel.ts";
import type { Line } from "../../examples/plugin-channel/src/protocol.ts";

type Run = ChannelRun<LinesAccount>;

/**
 * Mistakes in reading a stream, as authors make them.
 * - `link-too-late`: uses the link in a handler that runs before the link is assigned
 * - `listens-too-late`: drops what comes before the caller had time to listen
 * - `line-per-packet`: takes each packet for one line
 * - `forgets-parts`: drops the part of a line at the end of a packet
 * - `cuts-characters`: decodes each packet by itself
 * - `out-of-order`: hands over the newest line of a packet first
 * - `ignores-repetitions`: does not acknowledge what the host already has
 * - `late-ready`: cannot send before its caller had a turn
 */
export type StreamFault =
  | "none"
  | "link-too-late"
  | "listens-too-late"
  | "line-per-packet"
  | "forgets-parts"
  | "cuts-characters"
  | "out-of-order"
  | "ignores-repetitions"
  | "late-ready";

/** The example channel with a reader of its own, as short as authors write them, and one mistake in it. */
export function createNaiveLines(fault: StreamFault): Channel<LinesAccount> {
  const sockets = new WeakMap<Run, Socket>();
  const answers = new Map<string, (id: string) => void>();
  const whole = createLinesChannel();
  const write = (socket: Socket, line: Line) => socket.write(`${JSON.stringify(line)}\n`);
  return {
    ...whole,
    capabilities: { ...whole.capabilities, edit: false, typing: false },
    async start(run) {
      while (!run.signal.aborted) {
        const socket = await openSocket(run, fault, {
          opened: (open) => sockets.set(run, open),
          done: (line) => answers.get(line.uid)?.(line.id),
          async said(line, open) {
            const { room, from, text, id, group } = line;
            const ack = await run.receive({ id, chatType: group ? "group" : "direct", peer: { id: room }, sender: { id: from }, text });
            if (fault !== "ignores-repetitions" || ack.status !== "duplicate") write(open, { type: "ack", id });
          },
        });
        if (fault === "late-ready") await sleep(50);
        sockets.set(run, socket);
        run.state({ lifecycle: "ready", connected: true });
        if (!socket.destroyed) await new Promise((resolve) => socket.once("close", resolve));
        if (run.signal.aborted) break;
        run.state({ lifecycle: "recovering", connected: false });
        await sleep(run.account.reconnectMs);
      }
    },
    async send({ uid, to, text }, run) {
      const socket = sockets.get(run);
      if (!socket) throw new Error("there is no link to the server");
      const messageId = new Promise<string>((resolve) => answers.set(uid, resolve));
      write(socket, { type: "say", uid, to, text: text?.text ?? "" });
      return { messageId: await messageId, at: 0 };
    },
  };
}

interface Handlers {
  opened(socket: Socket): void;
  said(line: Extract<Line, { type: "said" }>, socket: Socket): Promise<void>;
  done(line: Extract<Line, { type: "done" }>): void;
}

async function openSocket({ account, signal }: Run, fault: StreamFault, handlers: Handlers): Promise<Socket> {
  const socket = connect({ host: account.host, port: account.port });
  socket.on("error", () => undefined);
  const stop = () => socket.destroy();
  signal.addEventListener("abort", stop, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", stop));
  let listening = fault !== "listens-too-late";
  const link: { socket?: Socket } = fault === "link-too-late" ? {} : { socket };
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    readPackets(socket, fault, (line) => {
      if (line.type === "welcome") {
        if (fault !== "late-ready") handlers.opened(socket);
        resolve();
      } else if (line.type === "done") handlers.done(line);
      else if (line.type === "said" && listening) {
        if (!link.socket) throw new Error("Cannot access 'link' before initialization");
        handlers.said(line, link.socket).catch(() => undefined);
      }
    });
    socket.write(`${JSON.stringify({ type: "hello", account: account.accountId, token: account.token })}\n`);
  });
  link.socket = socket;
  listening = true;
  return socket;
}

function readPackets(socket: Socket, fault: StreamFault, take: (line: Line) => void): void {
  let rest = "";
  if (fault !== "cuts-characters") socket.setEncoding("utf8");
  socket.on("data", (packet) => {
    try {
      const lines = fault === "line-per-packet" ? [packet.toString()] : `${rest}${packet.toString()}`.split("\n");
      rest = fault === "line-per-packet" ? "" : (lines.pop() ?? "");
      if (fault === "forgets-parts") rest = "";
      for (const line of fault === "out-of-order" ? lines.reverse() : lines) take(JSON.parse(line) as Line);
    } catch {
      socket.destroy();
    }
  });
}
