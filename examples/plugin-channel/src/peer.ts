import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type ChannelPeer, type PeerAction, startPacketProxy } from "svc/sdk/testing";
import { type Line, readLines, sendLine } from "./protocol.ts";

const TOKENS: Readonly<Record<string, string>> = { default: "tok-7c41e09d52", second: "tok-b83fa6611e" };

type Said = Extract<Line, { type: "said" }>;

/** A server of the protocol with its users' side at hand: keeps what was not acknowledged and sends it again, and takes each `uid` once. */
export async function startLinesServer(): Promise<ChannelPeer> {
  const seen: PeerAction[] = [];
  const links = new Map<Socket, string | undefined>();
  const open = new Map<string, Map<string, Said>>();
  const acknowledged = new Set<string>();
  const taken = new Map<string, string>();
  let count = 0;

  const waitingFor = (account: string) => {
    const waiting = open.get(account) ?? new Map<string, Said>();
    open.set(account, waiting);
    return waiting;
  };
  const take = (socket: Socket, line: Line) => {
    const account = links.get(socket);
    if (line.type === "hello") {
      if (TOKENS[line.account] !== line.token) return sendLine(socket, { type: "refused", reason: "unknown account or token" });
      links.set(socket, line.account);
      sendLine(socket, { type: "welcome" });
      for (const said of waitingFor(line.account).values()) sendLine(socket, said);
    } else if (account === undefined) socket.destroy();
    else if (line.type === "ack") {
      acknowledged.add(line.id);
      waitingFor(account).delete(line.id);
    } else if (line.type === "say") {
      const id = taken.get(line.uid) ?? `m${++count}`;
      if (!taken.has(line.uid)) seen.push(toMessage(line, id));
      taken.set(line.uid, id);
      sendLine(socket, { type: "done", uid: line.uid, id });
    } else if (line.type === "edit") {
      seen.push({ kind: "edit", messageId: line.id, text: line.text });
      sendLine(socket, { type: "done", uid: line.uid, id: line.id });
    } else if (line.type === "typing") seen.push({ kind: "typing", to: line.to, on: line.on });
  };

  const server = createServer((socket) => {
    links.set(socket, undefined);
    socket.on("close", () => links.delete(socket));
    socket.on("error", () => socket.destroy());
    readLines(socket, (line) => take(socket, line));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy = await startPacketProxy((server.address() as AddressInfo).port);
  const tokenOf = (account: string, credentials: string) => (credentials === "good" ? (TOKENS[account] as string) : "tok-wrong-0000");

  return {
    config: ({ accounts, credentials }) => ({
      port: proxy.port,
      reconnectMs: 20,
      token: tokenOf("default", credentials),
      ...(accounts === 2 ? { accounts: { second: { token: tokenOf("second", credentials) } } } : {}),
    }),
    secrets: [...Object.values(TOKENS), "tok-wrong-0000"],
    direct: "@ada",
    group: "#kitchen",
    seen,
    acknowledged: (id) => acknowledged.has(id),
    async say({ accountId, chatType, peerId, senderId, text, threadId, replyToId }) {
      const more = { ...(threadId ? { thread: threadId } : {}), ...(replyToId ? { reply: replyToId } : {}) };
      const said: Said = { type: "said", id: `m${++count}`, room: peerId, group: chatType !== "direct", from: senderId, text, ...more };
      waitingFor(accountId).set(said.id, said);
      for (const [socket, account] of links) if (account === accountId) sendLine(socket, said);
      return said.id;
    },
    packets: (shape) => proxy.shape(shape),
    drop() {
      for (const socket of links.keys()) socket.destroy();
    },
    connections: () => links.size,
    async close() {
      await proxy.close();
      for (const socket of links.keys()) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function toMessage(line: Extract<Line, { type: "say" }>, messageId: string): PeerAction {
  const { to, text, thread, reply } = line;
  return { kind: "message", to, text, messageId, ...(thread ? { threadId: thread } : {}), ...(reply ? { replyToId: reply } : {}) };
}
