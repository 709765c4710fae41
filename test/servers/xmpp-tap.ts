import { createServer } from "node:net";
import { TappedLinks } from "./tapped-links.ts";

/** A link of an account through the tap. */
export interface TappedStream {
  /** Address that the server bound it to, with its resource; that of the session it resumed. */
  jid?: string;
  /** Packets of the account, oldest first. */
  readonly sent: readonly string[];
  /** True once it goes on with an earlier session. */
  isResumed: boolean;
}

/** A wire tap between accounts and a server without encryption: knows who is linked and what is acknowledged, cuts and stalls links. */
export interface XmppTap {
  readonly port: number;
  readonly links: ReadonlySet<TappedStream>;
  /** True once an account has acknowledged the message of this id (XEP-0198). */
  isAcknowledged(id: string): boolean;
  /** Cuts every link; new ones are taken. */
  cut(): void;
  /** Lets nothing through any more, in both directions, without closing anything: a cable that was pulled. */
  stall(isStalled: boolean): void;
  close(): Promise<void>;
}

interface TapOptions {
  serverPort: number;
  /** Called for each packet of an account before the server has it. Cuts the link before it, or as soon as the server has it. */
  onPacket?(text: string, link: TappedStream): "cut-before" | "cut-after" | undefined;
}

/** A session of stream management, as the server counts it. */
interface Managed {
  jid: string | undefined;
  count: number;
  ids: Map<number, string>;
}

export async function startXmppTap({ serverPort, onPacket }: TapOptions): Promise<XmppTap> {
  const links = new TappedLinks<TappedStream>();
  const managed = new Map<string, Managed>();
  const acknowledged = new Set<string>();
  let isStalled = false;
  const tap = createServer((client) => {
    const sent: string[] = [];
    const link: TappedStream = { sent, isResumed: false };
    const { server, cut } = links.open(link, client, serverPort);
    let session: Managed | undefined;
    const acknowledge = (count: number) => {
      for (const [number, id] of session?.ids ?? []) if (number <= count) acknowledged.add(id);
    };
    client.on("data", (packet: Buffer) => {
      if (isStalled) return;
      const text = packet.toString();
      sent.push(text);
      const resumed = /<resume [^>]*previd="([^"]+)"[^>]*h="(\d+)"/.exec(text);
      if (resumed) {
        session = managed.get(resumed[1] ?? "");
        acknowledge(Number(resumed[2]));
        if (session) session.count = Number(resumed[2]);
      }
      for (const [, h] of text.matchAll(/<a [^>]*h="(\d+)"/g)) acknowledge(Number(h));
      const how = onPacket?.(text, link);
      if (how === "cut-before") return cut();
      if (how === "cut-after") server.write(packet, () => setImmediate(cut));
      else if (!server.destroyed) server.write(packet);
    });
    let rest = "";
    server.on("data", (packet: Buffer) => {
      if (isStalled) return;
      rest += packet.toString("latin1");
      // Stanzas and answers of stream management begin with these; a begin may be cut.
      const begins = /<(message|presence|iq|enabled|resumed|jid)\b[^>]*>([^<]*)/g;
      let done = 0;
      for (let found = begins.exec(rest); found; found = begins.exec(rest)) {
        done = begins.lastIndex;
        const [tag = "", name, content = ""] = found;
        const of = (attribute: string) => new RegExp(`\\b${attribute}=['"]([^'"]*)`).exec(tag)?.[1];
        if (name === "jid") link.jid ??= content;
        else if (name === "enabled") {
          session = { jid: link.jid, count: 0, ids: new Map() };
          managed.set(of("id") ?? "", session);
        } else if (name === "resumed") {
          link.isResumed = true;
          if (session?.jid !== undefined) link.jid = session.jid;
        } else if (session) {
          session.count += 1;
          const id = of("id");
          if (name === "message" && id !== undefined) session.ids.set(session.count, id);
        }
      }
      const begin = rest.lastIndexOf("<");
      rest = begin >= done ? rest.slice(begin) : "";
      if (!client.destroyed) client.write(packet);
    });
    client.on("end", () => server.end());
    server.on("end", () => client.end());
  });
  const port = await links.listen(tap);
  return {
    port,
    get links() {
      return links.all;
    },
    isAcknowledged: (id) => acknowledged.has(id),
    cut: () => links.cutAll(),
    stall(stalled) {
      isStalled = stalled;
    },
    close: () => links.close(tap),
  };
}
