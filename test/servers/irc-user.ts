import { once } from "node:events";
import { connect } from "node:net";
import { eventually } from "../../sdk/testing/eventually.ts";

/** Somebody with a client so simple that nothing of ours is in it. */
export interface IrcUser {
  readonly nick: string;
  /** `nick!user@host`, as the server shows it to others. */
  readonly mask: string;
  /** Lines of the server, oldest first. */
  readonly lines: readonly string[];
  send(line: string): void;
  /** Resolves when the server has read everything that was sent. */
  confirm(): Promise<void>;
  join(room: string, key?: string): Promise<void>;
  say(target: string, text: string): Promise<void>;
  /** The same with bytes that need not be UTF-8. */
  sayBytes(target: string, text: Buffer): Promise<void>;
  /** Waits for a line that fits. */
  sees(pattern: RegExp): Promise<string>;
  close(): Promise<void>;
}

interface UserOptions {
  port: number;
  nick: string;
  password?: string;
  onLine?(line: string): void;
}

/** Registers at a server on the loopback. */
export async function connectUser({ port, nick, password, onLine }: UserOptions): Promise<IrcUser> {
  const socket = connect({ host: "127.0.0.1", port });
  const lines: string[] = [];
  let rest = "";
  let asked = 0;
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  const send = (line: string) => void socket.write(`${line}\r\n`);
  socket.on("data", (packet: string) => {
    const parts = `${rest}${packet}`.split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const line = part.replace(/\r$/, "");
      if (line.startsWith("PING ")) send(`PONG ${line.slice(5)}`);
      lines.push(line);
      onLine?.(line);
    }
  });
  await once(socket, "connect");
  if (password !== undefined) send(`PASS ${password}`);
  send(`NICK ${nick}`);
  send(`USER ${nick} 0 * :${nick}`);
  const sees = (pattern: RegExp) => eventually(() => lines.find((line) => pattern.test(line)));
  const welcome = await sees(/^:\S+ 001 /);
  const user: IrcUser = {
    nick,
    mask: welcome.split(" ").at(-1) ?? "",
    lines,
    send,
    sees,
    async confirm() {
      asked += 1;
      send(`PING :asked-${asked}`);
      await eventually(() => lines.some((line) => / PONG /.test(line) && line.endsWith(`:asked-${asked}`)));
    },
    async join(room, key) {
      send(`JOIN ${room}${key === undefined ? "" : ` ${key}`}`);
      await user.confirm();
    },
    async say(target, text) {
      send(`PRIVMSG ${target} :${text}`);
      await user.confirm();
    },
    async sayBytes(target, text) {
      socket.write(Buffer.concat([Buffer.from(`PRIVMSG ${target} :`), text, Buffer.from("\r\n")]));
      await user.confirm();
    },
    async close() {
      if (socket.destroyed) return;
      const closed = once(socket, "close");
      socket.destroy();
      await closed;
    },
  };
  return user;
}
