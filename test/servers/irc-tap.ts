import { createServer, type Socket } from "node:net";
import { TappedLinks } from "./tapped-links.ts";

/** A link of an account through the tap. */
export interface TappedLink {
  /** User name the account gave in USER. */
  user?: string;
  /** Nick that the server gave it. */
  nick?: string;
  /** Lines of the account, oldest first. */
  readonly sent: readonly string[];
}

/** A wire tap between accounts and a server: knows who is linked, reads along, cuts and stalls links. */
export interface IrcTap {
  readonly port: number;
  readonly links: ReadonlySet<TappedLink>;
  /** Cuts every link; new ones are taken. */
  cut(): void;
  /** Lets nothing through any more, in both directions, without closing anything: a cable that was pulled. */
  stall(isStalled: boolean): void;
  close(): Promise<void>;
}

interface TapOptions {
  serverPort: number;
  /** Called for each line of an account before the server has it. For `false` the link is cut there: the server has the lines before, and not this one. */
  onLine?(line: string, link: TappedLink): boolean | undefined;
}

export async function startIrcTap({ serverPort, onLine }: TapOptions): Promise<IrcTap> {
  const links = new TappedLinks<TappedLink>();
  let isStalled = false;
  const tap = createServer((client) => {
    const sent: string[] = [];
    const link: TappedLink = { sent };
    const { server, cut } = links.open(link, client, serverPort);
    const forward = (from: Socket, to: Socket, read: (line: string) => boolean) => {
      let rest = "";
      from.on("data", (packet: Buffer) => {
        if (isStalled) return;
        const lines = `${rest}${packet.toString("latin1")}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          if (!read(Buffer.from(line.replace(/\r$/, ""), "latin1").toString())) return void to.end(() => cut());
          if (!to.destroyed) to.write(`${line}\n`, "latin1");
        }
      });
      from.on("end", () => to.end());
    };
    forward(client, server, (line) => {
      sent.push(line);
      const user = /^USER (\S+)/.exec(line)?.[1];
      if (user !== undefined) link.user = user;
      return onLine?.(line, link) !== false;
    });
    forward(server, client, (line) => {
      const nick = /^:\S+ 001 (\S+)/.exec(line)?.[1];
      if (nick !== undefined) link.nick = nick;
      const [, from, to] = /^:([^!\s]+)\S* NICK :?(\S+)/.exec(line) ?? [];
      if (from !== undefined && to !== undefined && from === link.nick) link.nick = to;
      return true;
    });
  });
  const port = await links.listen(tap);
  return {
    port,
    get links() {
      return links.all;
    },
    cut: () => links.cutAll(),
    stall: (stalled) => {
      isStalled = stalled;
    },
    close: () => links.close(tap),
  };
}
