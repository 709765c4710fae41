import { createHash } from "node:crypto";
import { type ChannelInbox, type ChannelRun, NotDispatchedError, type Receipt, SendRefusedError, settledWithin } from "svc/sdk";
import type { XmppAccount } from "./accounts.ts";
import { Acknowledgements } from "./acknowledgements.ts";
import { bareOf, normalizeTarget, parseAddress } from "./address.ts";
import { countOf, type Earlier, newId } from "./login.ts";
import { bodyOf, delayOf, isEncrypted, toEvent } from "./message.ts";
import { Questions } from "./questions.ts";
import { wordsOf } from "./refusals.ts";
import { Rooms } from "./rooms.ts";
import { Sending } from "./sending.ts";
import { NS, type XmppStream } from "./stream.ts";
import type { XmppTiming } from "./timing.ts";
import { attrOf, childOf, type Xml, type XmlElement, xml } from "./xml.ts";

const CHAT_STATES = "http://jabber.org/protocol/chatstates";
const HINTS = "urn:xmpp:hints";

interface SessionOptions {
  run: ChannelRun<XmppAccount>;
  inbox: ChannelInbox;
  timing: XmppTiming;
}

/** A session at the server: joins rooms, hands over what people write, and sends. With stream management it outlives its links. */
export class Session {
  readonly #options: SessionOptions;
  readonly #acks = new Acknowledgements();
  readonly #questions: Questions;
  readonly #sending: Sending;
  readonly #rooms: Rooms;
  readonly #timers: NodeJS.Timeout[] = [];
  #stream: XmppStream | undefined;
  /** Id by which the session is resumed; undefined while there is no stream management, or none that resumes. */
  #resumeId: string | undefined;
  /** The account counts what it sends, and the server what it sends. */
  #isCounting = false;
  #isManaged = false;
  #toldHandled = 0;
  #onManaged: (() => void) | undefined;

  constructor(options: SessionOptions) {
    const { run, timing } = options;
    this.#options = options;
    this.#questions = new Questions((stanza) => this.#send(stanza), run.account.domain, run.account.jid, timing.confirmMs);
    this.#sending = new Sending({
      transmit: (stanza, onAck) => this.#transmit(stanza, onAck),
      giveUp: (reason) => this.#stream?.wire.destroy(reason),
      forget: (stanza) => this.#acks.drop(stanza),
      timing,
      now: () => run.clock.now(),
    });
    this.#rooms = new Rooms({
      wanted: run.account.rooms,
      send: (stanza) => void this.#send(stanza),
      ask: (to, type, payload) => this.#questions.ask(to, type, payload),
      logger: run.logger,
    });
    this.#timers.push(setInterval(() => this.#rooms.again(), timing.againMs));
  }

  /** Session to go on with on the next link. */
  get earlier(): Earlier | undefined {
    return this.#resumeId === undefined ? undefined : { id: this.#resumeId, handled: this.#acks.handled };
  }

  /** Begins on a new link: asks for stream management, becomes available, joins the rooms; resolves when they have answered. */
  async enter(stream: XmppStream, features: XmlElement): Promise<void> {
    const { run, timing } = this.#options;
    this.#attach(stream);
    const { ended } = stream.wire;
    if (childOf(features, "sm", NS.sm)) {
      const managed = new Promise<void>((resolve) => {
        this.#onManaged = resolve;
      });
      this.#isCounting = true;
      stream.send(xml("enable", { xmlns: NS.sm, resume: "true" }));
      await settledWithin(Promise.race([managed, ended]), timing.confirmMs);
    }
    run.state({ self: { id: run.account.jid, name: run.account.nick } });
    this.#send(xml("presence"));
    this.#rooms.join();
    await settledWithin(Promise.race([this.#rooms.settled(), ended]), timing.joinMs);
  }

  /** Goes on after a link that broke. @param acked stanzas that the server has handled @param told stanzas of the server that it was told are handled */
  resume(stream: XmppStream, acked: number, told: number): void {
    this.#acks.ack(acked);
    this.#acks.rewind(told);
    this.#toldHandled = told;
    const again = this.#acks.resend();
    this.#attach(stream);
    if (again.length > 0) stream.send(...again, xml("r", { xmlns: NS.sm }));
  }

  /** The link is gone; the session may be resumed. */
  detach(): void {
    this.#stream = undefined;
    if (this.#resumeId === undefined) this.end();
  }

  /** Ends what waits: nothing of this session comes back. @param acked stanzas that the server has handled, where it says so */
  end(acked?: number): void {
    if (acked !== undefined) {
      try {
        this.#acks.ack(acked);
      } catch {
        // The server has lost count with the session.
      }
    }
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    this.#stream = undefined;
    this.#resumeId = undefined;
    this.#questions.end();
    this.#sending.end();
  }

  /** Says goodbye in order. */
  close(): void {
    const last = this.#isManaged ? [this.#ackStanza()] : [];
    this.#stream?.close(...last);
  }

  /** @throws as `Channel.send` */
  async say(to: string, uid: string, text: string): Promise<Receipt> {
    if (text === "") throw new SendRefusedError("there is no text to send", { isPermanent: true });
    const id = createHash("sha256").update(uid).digest("base64url").slice(0, 24);
    const origin = xml("origin-id", { xmlns: "urn:xmpp:sid:0", id });
    return this.#say(to, id, xml("body", {}, text), xml("active", { xmlns: CHAT_STATES }), origin);
  }

  /** Corrects a message (XEP-0308). @throws as `Channel.send` */
  async correct(to: string, messageId: string, text: string): Promise<void> {
    const replace = xml("replace", { xmlns: "urn:xmpp:message-correct:0", id: messageId });
    await this.#say(to, newId(), xml("body", {}, text), replace);
  }

  /** Tells whether the account is writing (XEP-0085). Nobody needs it later. */
  type(to: string, isOn: boolean): void {
    const target = this.#targetOf(to);
    const state = xml(isOn ? "composing" : "paused", { xmlns: CHAT_STATES });
    this.#send(xml("message", { to: target.to, type: target.type, id: newId() }, state, xml("no-store", { xmlns: HINTS })));
  }

  /** Takes an element of the server. @throws {Error} for one that ends the link */
  #take(element: XmlElement, isWhole: boolean): void {
    if (element.ns === NS.sm) return this.#takeManagement(element);
    if (element.ns !== NS.client) return;
    const onDone = this.#isManaged ? this.#acks.receive() : () => undefined;
    if (!isWhole) {
      this.#options.run.logger.warn("a stanza was too large to be read", { from: wordsOf(attrOf(element, "from")) });
      return onDone();
    }
    if (element.name === "message") return this.#takeMessage(element, onDone);
    if (element.name === "presence") this.#rooms.take(element);
    else if (element.name === "iq") this.#questions.take(element);
    onDone();
  }

  #takeManagement(element: XmlElement): void {
    if (element.name === "r") this.#send(this.#ackStanza(), false);
    else if (element.name === "a") this.#acks.ack(countOf(attrOf(element, "h")) ?? 0);
    else if (element.name === "enabled") {
      const isResumable = ["true", "1"].includes(attrOf(element, "resume"));
      this.#resumeId = isResumable ? attrOf(element, "id") || undefined : undefined;
      this.#isManaged = true;
      this.#onManaged?.();
    } else if (element.name === "failed") {
      this.#isCounting = false;
      this.#onManaged?.();
    }
  }

  #takeMessage(stanza: XmlElement, onDone: () => void): void {
    const { account, logger } = this.#options.run;
    const from = parseAddress(attrOf(stanza, "from") || account.jid);
    const type = attrOf(stanza, "type");
    if (type === "error") {
      if (!this.#sending.refused(stanza)) logger.debug("a message came back", { from: wordsOf(attrOf(stanza, "from")) });
      return onDone();
    }
    const text = bodyOf(stanza);
    // A domain is a server, which nobody can be asked about.
    if (!from || from.local === "" || type === "headline" || text.trim() === "") return onDone();
    const bare = bareOf(from);
    const isRoom = this.#rooms.has(bare);
    const reason = isRoom
      ? this.#roomReason(stanza, bare, from.resource)
      : type === "groupchat"
        ? "from a room that is not one of the account"
        : undefined;
    if (reason !== undefined || isEncrypted(stanza)) {
      if (reason !== "own" && reason !== "history")
        logger.info(`a message was not read: ${reason ?? "it is encrypted"}`, { from: wordsOf(bare) });
      return onDone();
    }
    const roomSender = isRoom ? this.#rooms.senderId(stanza, bare, from.resource) : "";
    const nick = isRoom && this.#rooms.nickIn(bare) !== account.nick ? this.#rooms.nickIn(bare) : undefined;
    this.#options.inbox.offer(toEvent(stanza, text, { from, isRoom, self: account.jid, nick, roomSender }), () => {
      onDone();
      this.#tellHandled();
    });
  }

  /** Reason for which a message of a room is not handed over. */
  #roomReason(stanza: XmlElement, room: string, nick: string): string | undefined {
    if (attrOf(stanza, "type") !== "groupchat")
      return "it was written to the account inside a room; it has to be written to the account itself";
    if (nick === "") return "it is of the room itself";
    if (nick === this.#rooms.nickIn(room)) {
      this.#sending.echo(stanza);
      return "own";
    }
    return delayOf(stanza) || !this.#rooms.isJoined(room) ? "history" : undefined;
  }

  async #say(to: string, id: string, ...children: Xml[]): Promise<Receipt> {
    if (normalizeTarget(to) !== to)
      throw new SendRefusedError(`"${wordsOf(to)}" is no address; expected name@example.org`, { isPermanent: true });
    const target = this.#targetOf(to);
    const isRoom = target.type === "groupchat";
    if (isRoom && !this.#rooms.isJoined(to)) throw new NotDispatchedError(`the account is not in ${to}`);
    const stanza = xml("message", { to: target.to, type: target.type, id }, ...children);
    return this.#sending.send({ id, to, stanza, isRoom });
  }

  #targetOf(to: string): { to: string; type: string } {
    return { to, type: this.#rooms.has(to) ? "groupchat" : "chat" };
  }

  /** Sends a message, and what makes the server say that it has it. */
  #transmit(stanza: Xml, onAck: () => void): boolean {
    const stream = this.#stream;
    if (!stream) return false;
    if (this.#isCounting) return this.#send(stanza, true, onAck) && stream.send(xml("r", { xmlns: NS.sm }));
    if (!this.#send(stanza)) return false;
    // Stanzas are handled in their order: an answer to a later question says that the message was, too.
    void this.#questions.ask(this.#options.run.account.domain, "get", xml("ping", { xmlns: NS.ping })).then((answer) => answer && onAck());
    return true;
  }

  /** @param isStanza counted by stream management */
  #send(stanza: Xml, isStanza = true, onAck?: () => void): boolean {
    const stream = this.#stream;
    if (!stream?.send(stanza)) return false;
    if (!isStanza || !this.#isCounting) return true;
    try {
      this.#acks.send(stanza, onAck);
    } catch (error) {
      stream.wire.destroy(error as Error);
    }
    if (this.#acks.waiting % 20 === 0) stream.send(xml("r", { xmlns: NS.sm }));
    return true;
  }

  #tellHandled(): void {
    if (this.#isManaged && this.#acks.handled !== this.#toldHandled) this.#send(this.#ackStanza(), false);
  }

  #ackStanza(): Xml {
    this.#toldHandled = this.#acks.handled;
    return xml("a", { xmlns: NS.sm, h: String(this.#toldHandled) });
  }

  #attach(stream: XmppStream): void {
    this.#stream = stream;
    if (this.#options.inbox.isFull) stream.wire.pause();
    this.#watchAlive(stream);
    stream.takeAll((element, isWhole) => {
      if (this.#stream === stream) this.#take(element, isWhole);
    });
  }

  /** Asks a silent server whether it is there, and ends a link on which nothing comes back: TCP alone notices that after minutes, or never. */
  #watchAlive({ wire }: XmppStream): void {
    const { pingMs, pongMs } = this.#options.timing;
    let askedAt = 0;
    const timer = setInterval(
      () => {
        const silentMs = performance.now() - wire.heardAt;
        if (wire.isPaused || silentMs < pingMs) return;
        if (askedAt < wire.heardAt) {
          askedAt = performance.now();
          if (this.#isCounting) this.#send(xml("r", { xmlns: NS.sm }), false);
          else void this.#questions.ask(this.#options.run.account.domain, "get", xml("ping", { xmlns: NS.ping }));
        } else if (performance.now() - askedAt > pongMs)
          wire.destroy(new Error(`the server has not answered for ${Math.round(silentMs / 1_000)} s`));
      },
      Math.max(10, Math.min(pingMs, pongMs) / 4),
    );
    void wire.ended.then(() => clearInterval(timer));
  }
}
