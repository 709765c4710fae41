import type { XmppAccount } from "./accounts.ts";
import { faultOfStream } from "./refusals.ts";
import type { Server } from "./servers.ts";
import type { XmppTiming } from "./timing.ts";
import { openWire, type Wire } from "./wire.ts";
import { escapeXml, type Xml, type XmlElement } from "./xml.ts";
import { XmlReader } from "./xml-reader.ts";

/** Namespaces of the core (RFC 6120). */
export const NS = {
  stream: "http://etherx.jabber.org/streams",
  client: "jabber:client",
  tls: "urn:ietf:params:xml:ns:xmpp-tls",
  sasl: "urn:ietf:params:xml:ns:xmpp-sasl",
  bind: "urn:ietf:params:xml:ns:xmpp-bind",
  sm: "urn:xmpp:sm:3",
  ping: "urn:xmpp:ping",
} as const;

/** Elements that may wait while the login is at work; a server answers one question at a time. */
const MAX_WAITING = 200;
const END = "</stream:stream>";

type OnElement = (element: XmlElement, isWhole: boolean) => void;

/** A stream of elements in both directions. Until somebody takes them as they come, they are asked for one by one. */
export class XmppStream {
  readonly #domain: string;
  readonly #waiting: Array<{ element: XmlElement; isWhole: boolean }> = [];
  #reader = this.#newReader();
  #onElement: OnElement | undefined;
  #onNext: ((element: XmlElement) => void) | undefined;
  #wire: Wire | undefined;

  private constructor(domain: string) {
    this.#domain = domain;
  }

  /** Dials one server. @throws {Error} when there is no link in time */
  static async open(
    server: Server,
    account: XmppAccount,
    { connectMs }: Pick<XmppTiming, "connectMs">,
    signal: AbortSignal,
  ): Promise<XmppStream> {
    const stream = new XmppStream(account.domain);
    stream.#wire = await openWire({ server, account, connectMs, signal, onText: (text) => stream.#reader.write(text) });
    return stream;
  }

  get wire(): Wire {
    if (!this.#wire) throw new Error("the stream has no link yet");
    return this.#wire;
  }

  /** @returns false when the link is gone: nothing has left the process */
  send(...elements: Xml[]): boolean {
    return this.wire.send(elements.map(({ text }) => text).join(""));
  }

  /** Opens the stream, or opens it anew after TLS or SASL. @returns the features of the server */
  async begin(): Promise<XmlElement> {
    this.#reader = this.#newReader();
    // Nothing that was said before counts on the new stream: behind the consent to encrypt, anybody on the way may have put words.
    this.#waiting.length = 0;
    this.wire.send(
      `<?xml version='1.0'?><stream:stream to="${escapeXml(this.#domain)}" version="1.0" xml:lang="en" xmlns="${NS.client}" xmlns:stream="${NS.stream}">`,
    );
    const features = await this.next();
    if (features.name !== "features" || features.ns !== NS.stream)
      throw new Error("the server does not say what it offers; is it one for XMPP clients?");
    return features;
  }

  /** Next element of the server. @throws {Error} when the link ends, or the server ends the stream */
  async next(): Promise<XmlElement> {
    const waiting = this.#waiting.shift();
    if (waiting) return waiting.element;
    return new Promise((resolve, reject) => {
      this.#onNext = resolve;
      void this.wire.ended.then((reason) => reject(reason ?? new Error("the link was closed")));
    });
  }

  /** Hands every further element over as it comes, those that wait first. */
  takeAll(onElement: OnElement): void {
    this.#onElement = onElement;
    for (const { element, isWhole } of this.#waiting.splice(0)) onElement(element, isWhole);
  }

  /** Says goodbye, and closes within a second. */
  close(...last: Xml[]): void {
    this.wire.close(`${last.map(({ text }) => text).join("")}${END}`);
  }

  #newReader(): XmlReader {
    return new XmlReader({
      onStream: () => undefined,
      onStanza: (element, isWhole) => {
        if (element.name === "error" && element.ns === NS.stream) throw faultOfStream(element);
        this.#take(element, isWhole);
      },
      onEnd: () => {
        throw new Error("the server ended the stream");
      },
    });
  }

  #take(element: XmlElement, isWhole: boolean): void {
    if (this.#onElement) return this.#onElement(element, isWhole);
    const onNext = this.#onNext;
    this.#onNext = undefined;
    if (onNext) return onNext(element);
    if (this.#waiting.length >= MAX_WAITING) throw new Error("the server says more than a login needs");
    this.#waiting.push({ element, isWhole });
  }
}
