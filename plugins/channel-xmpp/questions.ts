import { newId } from "./login.ts";
import { NS } from "./stream.ts";
import { attrOf, childrenOf, type Xml, type XmlElement, xml } from "./xml.ts";

/** Questions that wait for an answer. */
const MAX_WAITING = 300;
const NS_DISCO = "http://jabber.org/protocol/disco#info";
const NS_ERRORS = "urn:ietf:params:xml:ns:xmpp-stanzas";
/** Things that this client says it understands. */
const features = [
  NS_DISCO,
  NS.ping,
  "http://jabber.org/protocol/muc",
  "http://jabber.org/protocol/chatstates",
  "urn:xmpp:message-correct:0",
];

interface Waiting {
  to: string;
  answer(stanza: XmlElement | undefined): void;
}

/** Questions to the server and to rooms, and the answers to theirs (iq). */
export class Questions {
  readonly #send: (stanza: Xml) => boolean;
  readonly #domain: string;
  readonly #self: string;
  readonly #limitMs: number;
  readonly #waiting = new Map<string, Waiting>();

  /** @param self the account, in whose name its server answers */
  constructor(send: (stanza: Xml) => boolean, domain: string, self: string, limitMs: number) {
    this.#send = send;
    this.#domain = domain;
    this.#self = self;
    this.#limitMs = limitMs;
  }

  /** Asks. Resolves with the result or the error, and with undefined when none comes in time. */
  async ask(to: string, type: "get" | "set", payload: Xml): Promise<XmlElement | undefined> {
    if (this.#waiting.size >= MAX_WAITING) return undefined;
    const id = newId();
    let late: NodeJS.Timeout | undefined;
    const answer = await new Promise<XmlElement | undefined>((resolve) => {
      this.#waiting.set(id, { to, answer: resolve });
      late = setTimeout(() => resolve(undefined), this.#limitMs);
      if (!this.#send(xml("iq", { to, type, id }, payload))) resolve(undefined);
    });
    clearTimeout(late);
    this.#waiting.delete(id);
    return answer;
  }

  /** Takes an answer to a question of this account, or answers one of somebody else's. */
  take(stanza: XmlElement): void {
    const type = attrOf(stanza, "type");
    if (type === "get" || type === "set") return void this.#reply(stanza, type);
    const waiting = this.#waiting.get(attrOf(stanza, "id"));
    const from = attrOf(stanza, "from");
    // Anybody may send an answer; only the one who was asked is heard.
    const isOwn = from === "" || from === this.#self;
    if (waiting && (from === waiting.to || (isOwn && waiting.to === this.#domain))) waiting.answer(stanza);
  }

  /** Ends what waits. */
  end(): void {
    for (const { answer } of this.#waiting.values()) answer(undefined);
  }

  #reply(stanza: XmlElement, type: string): void {
    const to = attrOf(stanza, "from") || undefined;
    const id = attrOf(stanza, "id");
    const [question] = childrenOf(stanza);
    if (type === "get" && question?.ns === NS.ping) this.#send(xml("iq", { to, id, type: "result" }));
    else if (type === "get" && question?.ns === NS_DISCO) {
      const identity = xml("identity", { category: "client", type: "bot", name: "svc" });
      const query = xml("query", { xmlns: NS_DISCO }, identity, ...features.map((feature) => xml("feature", { var: feature })));
      this.#send(xml("iq", { to, id, type: "result" }, query));
    } else {
      const error = xml("error", { type: "cancel" }, xml("service-unavailable", { xmlns: NS_ERRORS }));
      this.#send(xml("iq", { to, id, type: "error" }, error));
    }
  }
}
