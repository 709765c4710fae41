import { client, type Element, xml } from "@xmpp/client";
import { eventually } from "../../sdk/testing/eventually.ts";

export { xml };

/** Somebody with a client of another house, so that nothing of ours is in it. */
export interface XmppUser {
  /** `name@localhost`. */
  readonly jid: string;
  /** Stanzas that came, oldest first. */
  readonly stanzas: readonly Element[];
  /** Texts of one sender, an account or a room; without a sender, of all. */
  texts(from?: string): string[];
  join(room: string, nick?: string): Promise<void>;
  /** Writes a message. Resolves with its id once the server has it. */
  say(to: string, text: string, type?: "chat" | "groupchat"): Promise<string>;
  send(element: Element): Promise<void>;
  /** Sends XML as it is. */
  write(text: string): Promise<void>;
  /** Resolves when the server has handled everything that was sent. */
  confirm(): Promise<void>;
  /** Waits for a stanza that fits. */
  sees(fits: (stanza: Element) => boolean): Promise<Element>;
  close(): Promise<void>;
}

interface UserOptions {
  port: number;
  name: string;
  password: string;
  resource?: string;
  onStanza?(stanza: Element): void;
}

/** Logs in at a prosody on the loopback, and is available. */
export async function connectXmppUser({ port, name, password, resource = "desk", onStanza }: UserOptions): Promise<XmppUser> {
  const own = client({
    service: `xmpp://127.0.0.1:${port}`,
    domain: "localhost",
    resource,
    // SCRAM of this client takes most of a second.
    credentials: async (authenticate) => authenticate({ username: name, password }, "PLAIN"),
  });
  own.reconnect.stop();
  own.on("error", () => undefined);
  // The library acknowledges more stanzas than it was sent now and then, for which servers end the stream: it goes without.
  own.prependListener("element", (element) => {
    if (element.name === "stream:features") element.remove("sm", "urn:xmpp:sm:3");
  });
  const stanzas: Element[] = [];
  own.on("stanza", (stanza) => {
    stanzas.push(stanza);
    onStanza?.(stanza);
  });
  await own.start();
  // It would cut characters between packets.
  own.socket?.setEncoding("utf8");
  await own.send(xml("presence"));
  const jid = `${name}@localhost`;
  let count = 0;
  const nextId = () => {
    count += 1;
    return `${name}-${resource}-${count}`;
  };
  const sees: XmppUser["sees"] = (fits) => eventually(() => stanzas.find(fits));
  const user: XmppUser = {
    jid,
    stanzas,
    sees,
    texts: (from) =>
      stanzas
        .filter((stanza) => stanza.is("message") && (from === undefined || stanza.attrs.from?.split("/")[0] === from))
        .flatMap((stanza) => stanza.getChildText("body") ?? []),
    async join(room, nick = name) {
      await own.send(xml("presence", { to: `${room}/${nick}` }, xml("x", { xmlns: "http://jabber.org/protocol/muc" })));
      await sees((stanza) => stanza.is("presence") && stanza.attrs.from === `${room}/${nick}`);
      const unlock = xml("query", { xmlns: "http://jabber.org/protocol/muc#owner" }, xml("x", { xmlns: "jabber:x:data", type: "submit" }));
      await own.send(xml("iq", { type: "set", to: room, id: nextId() }, unlock));
      await user.confirm();
    },
    async say(to, text, type = "chat") {
      const id = nextId();
      await own.send(xml("message", { to, type, id }, xml("body", {}, text)));
      await user.confirm();
      return id;
    },
    send: (element) => own.send(element),
    write: (text) => own.write(text),
    async confirm() {
      const id = nextId();
      await own.send(xml("iq", { type: "get", to: "localhost", id }, xml("ping", { xmlns: "urn:xmpp:ping" })));
      await sees((stanza) => stanza.is("iq") && stanza.attrs.id === id);
    },
    async close() {
      await own.stop().catch(() => undefined);
    },
  };
  return user;
}
